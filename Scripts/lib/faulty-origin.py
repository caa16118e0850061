#!/usr/bin/env python3
"""An origin that breaks off in the middle of a body, for the fault checks.

usage: faulty-origin.py DIRECTORY SOCKET

`/truncated/PATH` promises the whole body and closes after half of it; `/stalled/PATH` stops sending after half of it and
keeps the connection. Single byte ranges work. Listens on a Unix socket; nginx stands in front of it.
"""

import http.server
import os
import socketserver
import sys

ROOT, SOCKET = sys.argv[1], sys.argv[2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def address_string(self):
        return "unix"

    def do_GET(self):
        kind, _, path = self.path.split("?")[0].lstrip("/").partition("/")
        name = os.path.normpath(os.path.join(ROOT, path))
        if not name.startswith(os.path.abspath(ROOT) + os.sep) or not os.path.isfile(name):
            self.send_error(404)
            return
        with open(name, "rb") as file:
            body = file.read()
        first, last, status = 0, len(body) - 1, 200
        unit, _, bounds = self.headers.get("Range", "").partition("=")
        if unit == "bytes" and "," not in bounds:
            low, _, high = bounds.partition("-")
            if low:
                first, last = int(low), min(int(high or last), last)
            else:
                first = max(0, len(body) - int(high))
            status = 206
        part = body[first : last + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
        self.end_headers()
        self.wfile.write(part[: len(part) // 2])
        self.wfile.flush()
        if kind == "stalled":
            # Until the other side gives up, or a minute has passed.
            self.connection.settimeout(60)
            try:
                self.connection.recv(1)
            except TimeoutError:
                pass
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


if __name__ == "__main__":
    server = Server(SOCKET, Handler)
    os.chmod(SOCKET, 0o666)
    server.serve_forever()
