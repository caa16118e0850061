print("pdn")
