#!/usr/bin/env python3
"""Reads `--stats` files and says whether criteria hold.

usage: stats.py judge FILE… -- CRITERION…
       stats.py log FILE --log ACCESS-LOG [--from BYTE] [--within 0.01]
       stats.py table FILE…
       stats.py get FILE… -- FIGURE

Several files (one per process) count as one swarm. A figure is a key of `total` (`offload`), or `sum.KEY`, `min.KEY`, `max.KEY`
over the viewers (`sum.bytes.peers`), or `viewers`, `failed`. A criterion is FIGURE OP LIMIT, like `offload>=0.85`, where LIMIT
is a number or another figure. Prints `PASS|FAIL <tab> text` for each; the exit code is 1 when one failed.
"""

import argparse
import json
import operator
import re
import sys

OPERATORS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt}
SIGNS = {">=": "≥", "<=": "≤", "==": "=", "!=": "≠", ">": ">", "<": "<"}


def load(files):
    """One document from one or several: the totals of several are worked out from their viewers."""
    documents = [json.load(open(name)) for name in files]
    if len(documents) == 1:
        return documents[0]
    viewers = [viewer for document in documents for viewer in document["viewers"]]

    def total(*path):
        return sum(value or 0 for value in (dig(viewer, path) for viewer in viewers))

    cdn, peers, wasted = total("bytes", "cdn"), total("bytes", "peers"), total("bytes", "wasted")
    # A document of one viewer has its own `bytesDelivered`; they add up, whatever was wasted.
    delivered = sum(document["total"]["bytesDelivered"] or 0 for document in documents)
    return {
        "viewers": viewers,
        "total": {
            "bytesCDN": cdn,
            "bytesPeers": peers,
            "bytesDelivered": delivered,
            "offload": 1 - cdn / delivered if delivered else None,
            "peerShare": peers / (cdn + peers) if cdn + peers else None,
            "wasted": wasted,
            "stalls": total("stalls"),
            "chunksRejected": total("chunksRejected"),
        },
    }


def dig(value, path):
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def figure(document, name):
    viewers = document["viewers"]
    if name == "viewers":
        return len(viewers)
    if name == "failed":
        return sum(1 for viewer in viewers if viewer.get("error"))
    head, _, rest = name.partition(".")
    if head in ("sum", "min", "max") and rest:
        values = [dig(viewer, rest.split(".")) for viewer in viewers]
        values = [value for value in values if value is not None]
        if not values:
            return None
        return {"sum": sum, "min": min, "max": max}[head](values)
    return dig(document["total"], name.split("."))


def text(value):
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10000 else str(value)


def report(passed, line):
    print(f"{'PASS' if passed else 'FAIL'}\t{line}")
    return passed


def judge(document, criteria):
    passed = True
    for criterion in criteria:
        match = re.fullmatch(r"([A-Za-z.]+)(>=|<=|==|!=|>|<)([A-Za-z0-9.]+)", criterion)
        if not match:
            sys.exit(f"stats.py: not a criterion: {criterion}")
        name, sign, limit = match.groups()
        value = figure(document, name)
        bound = float(limit) if re.fullmatch(r"[0-9.]+", limit) else figure(document, limit)
        holds = value is not None and bound is not None and OPERATORS[sign](value, bound)
        shown = limit if re.fullmatch(r"[0-9.]+", limit) else f"{limit} {text(bound)}"
        passed &= report(holds, f"{name} {text(value)} (must be {SIGNS[sign]} {shown})")
    return passed


def agree(document, log, start, within):
    """Compares what the CDN's log says it sent with what the viewers say they received from it."""
    sent = 0
    with open(log, "rb") as file:
        file.seek(start)
        for line in file:
            entry = json.loads(line)
            if entry["status"] in (200, 206):
                sent += entry["bytes"]
    received = sum(figure(document, f"sum.bytes.{key}") or 0 for key in ("cdn", "cdnManifest", "cdnCatalogue"))
    cancelled = figure(document, "sum.requests.cancelled") or 0
    difference = abs(sent - received) / sent if sent else 1.0
    line = f"CDN log {sent:,} bytes, viewers {received:,}: {difference:.2%} apart (must be ≤ {within:.0%})"
    if cancelled and difference > within:
        # The log counts what went into the socket of a request that was cancelled, the viewer what came out of it.
        return report(False, line + f", {cancelled} cancelled requests")
    return report(difference <= within, line)


def table(document):
    total = document["total"]
    viewers = document["viewers"]
    mebi = 1 << 20
    sources = [("CDN", "cdn"), ("peers", "peers"), ("own store", "store"), ("CDN manifests", "cdnManifest"),
               ("CDN catalogue", "cdnCatalogue"), ("uploaded", "uploaded"), ("wasted", "wasted")]
    rows = [(f"bytes, {label}", f"{(figure(document, f'sum.bytes.{key}') or 0) / mebi:.2f} MiB") for label, key in sources]
    rows += [
        ("viewers", f"{len(viewers)}, of them failed: {figure(document, 'failed')}"),
        ("offload", text(total.get("offload"))),
        ("copies per segment from the CDN", text(total.get("copiesPerSegment"))),
        ("start-up, median and 95 %", f"{text(total.get('startupSecondsMedian'))} s, {text(total.get('startupSecondsP95'))} s"),
        ("stalls", text(total.get("stalls"))),
        ("chunks verified", text(figure(document, "sum.chunksVerified"))),
        ("chunks rejected", text(figure(document, "sum.chunksRejected"))),
    ]
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:<{width}}  {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("judge", "get"):
        command = commands.add_parser(name)
        command.add_argument("files", nargs="+")
    command = commands.add_parser("log")
    command.add_argument("files", nargs="+")
    command.add_argument("--log", required=True)
    command.add_argument("--from", dest="start", type=int, default=0)
    command.add_argument("--within", type=float, default=0.01)
    command = commands.add_parser("table")
    command.add_argument("files", nargs="+")

    arguments = sys.argv[1:]
    tail = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, tail = arguments[:cut], arguments[cut + 1 :]
    options = parser.parse_args(arguments)
    document = load(options.files)
    if options.command == "judge":
        sys.exit(0 if judge(document, tail) else 1)
    if options.command == "get":
        print(figure(document, tail[0]))
    if options.command == "log":
        sys.exit(0 if agree(document, options.log, options.start, options.within) else 1)
    if options.command == "table":
        table(document)


if __name__ == "__main__":
    main()
