#!/usr/bin/env python3
"""Watches the sockets of a process until it ends: each AF_INET or AF_INET6 one must go to the CDN or to a resolver.

usage: sockets.py PID HOST:PORT

Reads /proc every 10 ms. Listening and unconnected sockets count as strangers too. Prints `PASS|FAIL <tab> text`.
"""

import os
import re
import socket
import sys
import time


def address(text):
    host, port = text.split(":")
    raw = bytes.fromhex(host)
    # The kernel prints each 32-bit word in host order.
    raw = b"".join(raw[index : index + 4][::-1] for index in range(0, len(raw), 4))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    name = socket.inet_ntop(family, raw)
    if name.startswith("::ffff:"):
        name = name[7:]
    return name, int(port, 16)


def sockets(pid):
    """inode → (protocol, local, remote) of the process's network namespace, cut to what the process holds."""
    inodes = set()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{entry}"))
        except FileNotFoundError:
            continue
        if match:
            inodes.add(match.group(1))
    found = {}
    for protocol in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        with open(f"/proc/{pid}/net/{protocol}") as table:
            for line in table.readlines()[1:]:
                columns = line.split()
                if columns[9] in inodes:
                    found[columns[9]] = (protocol, address(columns[1]), address(columns[2]))
    return found


def resolvers():
    names = {"127.0.0.53"}
    try:
        with open("/etc/resolv.conf") as file:
            names |= {line.split()[1] for line in file if line.startswith("nameserver")}
    except OSError:
        pass
    return names


def main():
    pid, cdn = sys.argv[1:]
    host, _, port = cdn.rpartition(":")
    dns = resolvers()
    strangers, seen, looks = set(), 0, 0
    while True:
        try:
            current = sockets(pid)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            break
        if not os.path.exists(f"/proc/{pid}/exe") or open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z":
            break
        looks += 1
        for protocol, local, remote in current.values():
            if remote == (host, int(port)):
                seen += 1
            elif remote[0] in dns and remote[1] == 53:
                continue
            elif protocol.startswith("tcp") and remote == ("0.0.0.0", 0) and local == ("0.0.0.0", 0):
                continue  # A socket between socket() and connect().
            else:
                strangers.add(f"{protocol} {local[0]}:{local[1]} to {remote[0]}:{remote[1]}")
        time.sleep(0.01)
    if strangers or not seen:
        print(f"FAIL\t{looks} looks: {'; '.join(sorted(strangers)) or 'no connection to the CDN was seen'}")
        sys.exit(1)
    print(f"PASS\t{looks} looks at the sockets in /proc: none but to the CDN")


if __name__ == "__main__":
    main()
