print("pdn-tracker")
