#!/usr/bin/env python3
"""Real viewers against simulated ones.

usage: calibration.py scenario DIRECTORY NAME UP DOWN CDN LENGTH ARRIVAL:STAY…
       calibration.py compare STATS… -- SIMULATION…

`scenario` writes NAME.json and NAME.csv, which say to `pdn simulate` what has been run for real: rates as a scenario takes
them (CDN: of all its transfers together, or `none`), the title's length and for each viewer when it came and how long it stayed,
in seconds. `compare` reads the figures that real viewers wrote with --stats, one process each, and those of `pdn simulate
--json`, a seed each, and prints `PASS|FAIL <tab> text` for offload (within 0.03), copiesSteady (0.15) and the median start-up
(20 %).
"""

import json
import os
import statistics
import sys


def scenario(directory, name, up, down, cdn, length, viewers):
    """The stream is as ``Scripts/lib/stream.sh`` makes it: segments of 2 s, 2.5 Mbps in all."""
    with open(os.path.join(directory, f"{name}.csv"), "w") as table:
        table.write("arrival_s,stay_s\n")
        table.writelines("{},{}\n".format(*viewer.split(":")) for viewer in viewers)
    document = {
        "name": name,
        "shows": "What real viewers did on links of the same rates.",
        "duration": max(float(viewer.split(":")[0]) for viewer in viewers) + 2 * float(length),
        "stream": {"type": "vod", "ladder": ["2.5Mbps"], "segment": "2s", "length": float(length), "sizeVariation": 0.05},
        "population": {"arrivals": {"kind": "file", "file": f"{name}.csv", "column": "arrival_s", "sessionColumn": "stay_s"}},
        # The namespaces of one machine are less than a millisecond apart.
        "links": {"classes": [{"name": "link", "down": down, "up": up, "rtt": "0.5ms"}], "between": "0.5ms"},
        "cdn": {"latency": "1ms"},
        "tracker": {"latency": "1ms"},
    }
    if cdn != "none":
        document["cdn"]["capacity"] = cdn
    with open(os.path.join(directory, f"{name}.json"), "w") as file:
        json.dump(document, file, indent=2)


def real(files):
    documents = [json.load(open(name))["total"] for name in files]
    delivered = sum(total["bytesDelivered"] for total in documents)
    # All watch one title from its start: the longest viewer's bytes are the distinct ones.
    distinct = max(total["bytesDelivered"] for total in documents)
    return {
        "offload": 1 - sum(total["bytesCDN"] for total in documents) / delivered,
        "copiesSteady": sum(total["copiesSteady"] * total["bytesDelivered"] for total in documents) / distinct,
        "start-up": statistics.median(total["startupSecondsMedian"] for total in documents),
    }


def simulated(files):
    totals = [json.load(open(name))["total"] for name in files]
    keys = {"offload": "offload", "copiesSteady": "copiesSteady", "start-up": "startupSecondsMedian"}
    return {name: statistics.mean(total[key] for total in totals) for name, key in keys.items()}


def compare(measured, predicted):
    limits = {"offload": 0.03, "copiesSteady": 0.15, "start-up": 0.2 * measured["start-up"]}
    for name, limit in limits.items():
        apart = abs(measured[name] - predicted[name])
        outcome = "PASS" if apart <= limit else "FAIL"
        print(f"{outcome}\t{name} real {measured[name]:.3f}, simulated {predicted[name]:.3f}: {apart:.3f} apart (must be ≤ {limit:.3f})")


def main(command=None, *arguments):
    if command == "scenario" and len(arguments) > 6:
        scenario(*arguments[:6], arguments[6:])
    elif command == "compare" and "--" in arguments:
        cut = arguments.index("--")
        compare(real(arguments[:cut]), simulated(arguments[cut + 1 :]))
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
