#!/usr/bin/env python3
"""Runs the simulations of a file and holds them against its figures.

usage: simulations.py [--record] PDN FILE

FILE is a list of {"scenario", "viewers", "duration", "seeds", "offload", "stalls"}: the mean offload and all stalls of so
many seeds from the scenario's own on. Equal seeds give equal figures, so a difference is a change of what is decided.
"""

import json
import subprocess
import sys
import time

# What an offload may lose, and what it must have won before the figures should be recorded anew.
TOLERANCE = 0.01


def simulate(pdn, entry):
    command = [pdn, "simulate", entry["scenario"], "--json", "--duration", entry["duration"]]
    command += ["--viewers", str(entry["viewers"]), "--seeds", str(entry["seeds"])]
    document = json.loads(subprocess.check_output(command, stderr=subprocess.DEVNULL))
    totals = [run["total"] for run in document.get("runs", [document])]
    offload = sum(total["offload"] or 0 for total in totals) / len(totals)
    return round(offload, 4), sum(total["stalls"] for total in totals)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--record"]
    records = "--record" in sys.argv[1:]
    pdn, path = arguments
    with open(path) as file:
        entries = json.load(file)
    began = time.monotonic()
    failed = False
    for entry in entries:
        offload, stalls = simulate(pdn, entry)
        name = f"{entry['scenario']}, {entry['viewers']} viewers"
        text = f"{name}: offload {offload:.3f} (was {entry['offload']:.3f}), {stalls} stalls (were {entry['stalls']})"
        is_worse = offload < entry["offload"] - TOLERANCE or stalls > entry["stalls"]
        if records:
            print(f"{name}: offload {offload:.3f}, {stalls} stalls", flush=True)
            entry["offload"], entry["stalls"] = offload, stalls
            continue
        failed = failed or is_worse
        better = offload > entry["offload"] + TOLERANCE or stalls < entry["stalls"]
        word = "FAIL" if is_worse else "PASS"
        print(f"{word}\t{text}{'; better, record it' if better and not is_worse else ''}", flush=True)
    print(f"{len(entries)} simulations in {time.monotonic() - began:.0f} s")
    if records:
        with open(path, "w") as file:
            file.write("[\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n]\n")
    elif failed:
        sys.exit("a simulation got worse; if that is meant, record the new figures with Scripts/simulations.sh --record")


if __name__ == "__main__":
    main()
