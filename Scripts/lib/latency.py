#!/usr/bin/env python3
"""Reads the lines about latency in the log of `pdn play --log player=debug` and says whether it was kept.

usage: latency.py LOG [none|stale|restart]

Within half a second of the target: with `none` at each reading but the first two, with an event at the last reading and at
half of all at least. Prints `PASS|FAIL <tab> text`.
"""

import re
import sys

LINE = re.compile(r"latency (-?[\d.]+) s, target ([\d.]+) s, speed ([\d.]+), stalls (\d+)")


def main(log, event):
    readings = [tuple(map(float, match.groups())) for match in map(LINE.search, open(log)) if match]
    distances = [abs(latency - target) for latency, target, _, _ in readings]
    if len(distances) < 6:
        print(f"FAIL\tonly {len(distances)} readings of the latency")
        return
    kept = sum(distance < 0.5 for distance in distances)
    worst = max(distances[2:])
    holds = worst < 0.5 if event == "none" else distances[-1] < 0.5 and kept >= len(distances) / 2
    print(
        f"{'PASS' if holds else 'FAIL'}\tlatency within 0.5 s of {readings[-1][1]:.1f} s at {kept} of {len(distances)} readings,"
        f" {worst:.2f} s off at most, {distances[-1]:.2f} s at the end"
    )


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "none")
