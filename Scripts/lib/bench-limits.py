#!/usr/bin/env python3
"""Says which benchmark lines are within what the issues ask.

usage: bench-limits.py delivery|simulation FILE   (a JSON line per benchmark, as Scripts/bench.sh prints them)

Prints `PASS|FAIL <tab> text` for each limit of that group; a benchmark that is missing fails.
"""

import json
import operator
import sys

# name, field, comparison, bound, why
LIMITS = {
    # What a viewer costs the machine that plays.
    "delivery": [
        ("tree-hashing", "ratio", operator.ge, 0.9, "of libcrypto's raw SHA-256"),
        ("link", "ratio", operator.le, 1.6, "times the CPU of raw loopback TCP + one SHA-256 + two ChaCha20-Poly1305 passes"),
        ("session-memory", "value", operator.le, 8.0, "MiB per session beside its store"),
        ("startup-off", "ratio", operator.le, 1.3, "times the bare floor"),
        ("startup-on", "ratio", operator.le, 1.3, "times the bare floor"),
        ("control-latency", "value", operator.le, 100.0, "ms above the round trip, 2 Mbps uplink full"),
        ("messages", "value", operator.le, 40.0, "messages per viewer and second of stream at 25 links"),
        ("idle-link", "value", operator.le, 600.0, "bytes for an idle link's state machine"),
        ("neighbourhood-viewer", "value", operator.le, 20_000.0, "bytes for a viewer's links, 12 of them"),
    ],
    # What a simulated viewer costs the planner's machine.
    "simulation": [
        ("simulation-10000", "value", operator.ge, 50_000.0, "viewer-seconds of a live stream simulated per CPU second"),
        ("simulation-10000-messages", "value", operator.le, 40.0, "messages per viewer and second of stream"),
        ("simulation-10000-memory", "value", operator.le, 20_000.0, "bytes for a simulated viewer, 12 links each"),
    ],
}


def main():
    lines = {}
    with open(sys.argv[2]) as file:
        for line in file:
            if line.startswith("{"):
                entry = json.loads(line)
                lines[entry["name"]] = entry
    for name, field, compare, bound, why in LIMITS[sys.argv[1]]:
        entry = lines.get(name)
        value = entry.get(field) if entry else None
        holds = value is not None and compare(value, bound)
        sign = "≥" if compare is operator.ge else "≤"
        shown = "unknown" if value is None else f"{value:.3g}"
        print(f"{'PASS' if holds else 'FAIL'}\t{name}: {shown} (must be {sign} {bound:g} {why})")


if __name__ == "__main__":
    main()
