"""The frames of the peer protocol, section 3 of its document, as dictionaries."""

import struct

TYPES = {
    1: "hello", 2: "have", 3: "claim", 4: "record_request", 5: "record", 6: "leaves", 7: "request", 8: "data",
    9: "reject", 10: "cancel", 11: "choke", 12: "unchoke", 13: "peers", 14: "ping", 15: "pong", 16: "bye",
}
NUMBERS = {name: number for number, name in TYPES.items()}
REASONS = {1: "absent", 2: "late", 3: "busy", 4: "choked", 5: "cancelled", 6: "capped"}
BYES = [
    "done", "protocol violation", "malformed", "unsolicited", "flood", "bad data", "duplicate", "full", "certificate",
    "downgrade", "silent", "unresponsive", "myself", "banned", "leaving",
]
NAME = struct.Struct(">16sIQBQQQH")


class FrameError(Exception):
    pass


def frame(name, body):
    return struct.pack(">BH", NUMBERS[name], len(body)) + body


def hello(lowest=1, highest=1, flags=1, port=0, queue=256, certificate=b""):
    return frame("hello", struct.pack(">BBHHHH", lowest, highest, flags, port, queue, len(certificate)) + certificate)


def runs(ranges):
    return struct.pack(">B", len(ranges)) + b"".join(struct.pack(">HH", first, count) for first, count in ranges)


def have(entries):
    """Entries are (root, change) or (root, change, verified, expected), with runs as (first, count)."""
    body = struct.pack(">H", len(entries))
    for root, change, *lists in entries:
        body += root + bytes([change]) + b"".join(runs(ranges) for ranges in lists)
    return frame("have", body)


def claim(hops, signed):
    return frame("claim", bytes([hops]) + signed)


def record_request(number, name):
    """`name` is (stream, epoch, rendition, kind, section, number, offset, part)."""
    return frame("record_request", struct.pack(">I", number) + NAME.pack(*name))


def record(number, signed):
    return frame("record", struct.pack(">I", number) + signed)


def leaves(root, stripe, hashes):
    return frame("leaves", root + struct.pack(">HB", stripe, len(hashes)) + b"".join(hashes))


def request(number, root, first, count, time_left, wants_leaves=True):
    return frame("request", struct.pack(">I32sHBIB", number, root, first, count, time_left, int(wants_leaves)))


def data(number, chunk, payload):
    return frame("data", struct.pack(">IH", number, chunk) + payload)


def reject(number, first, count, reason, retry_after=0):
    return frame("reject", struct.pack(">IHBBI", number, first, count, reason, retry_after))


def cancel(number):
    return frame("cancel", struct.pack(">I", number))


def choke(retry_after):
    return frame("choke", struct.pack(">I", retry_after))


def unchoke():
    return frame("unchoke", b"")


def peers(entries):
    body = bytes([len(entries)])
    for address, port, certificate in entries:
        body += address + struct.pack(">HH", port, len(certificate)) + certificate
    return frame("peers", body)


def ping(token):
    return frame("ping", struct.pack(">I", token))


def pong(token):
    return frame("pong", struct.pack(">I", token))


def bye(code):
    return frame("bye", bytes([code]))


class Body:
    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        if self.offset + count > len(self.data):
            raise FrameError("short body")
        self.offset += count
        return self.data[self.offset - count : self.offset]

    def unpack(self, form):
        values = struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))
        return values if len(values) > 1 else values[0]

    def rest(self):
        return self.take(len(self.data) - self.offset)

    def runs(self):
        return [self.unpack("HH") for _ in range(self.unpack("B"))]


def parse(plaintext):
    """The frames of a message."""
    frames = []
    while plaintext:
        if len(plaintext) < 3:
            raise FrameError("short frame")
        kind, length = struct.unpack_from(">BH", plaintext)
        body, plaintext = Body(plaintext[3 : 3 + length]), plaintext[3 + length :]
        if kind not in TYPES or len(body.data) != length:
            raise FrameError(f"frame type {kind}")
        name = TYPES[kind]
        frames.append({"type": name, **READERS[name](body)})
        if body.offset != length:
            raise FrameError(f"{length - body.offset} bytes behind a {name}")
    return frames


def read_hello(body):
    keys = ("lowest", "highest", "flags", "port", "queue", "length")
    values = dict(zip(keys, body.unpack("BBHHHH")))
    return {**values, "certificate": body.take(values.pop("length"))}


def read_have(body):
    entries = []
    for _ in range(body.unpack("H")):
        root, change = body.take(32), body.unpack("B")
        if change > 3:
            raise FrameError("have change")
        entries.append((root, change, body.runs(), body.runs()) if change > 1 else (root, change, [], []))
    return {"entries": entries}


def read_leaves(body):
    root, stripe, count = body.unpack("32sHB")
    return {"root": root, "stripe": stripe, "leaves": [body.take(32) for _ in range(count)]}


def read_peers(body):
    entries = []
    for _ in range(body.unpack("B")):
        address, port, length = body.unpack("16sHH")
        entries.append((address, port, body.take(length)))
    return {"entries": entries}


READERS = {
    "hello": read_hello,
    "have": read_have,
    "claim": lambda body: {"hops": body.unpack("B"), "claim": body.rest()},
    "record_request": lambda body: {"number": body.unpack("I"), "name": NAME.unpack(body.take(NAME.size))},
    "record": lambda body: {"number": body.unpack("I"), "signed": body.rest()},
    "leaves": read_leaves,
    "request": lambda body: dict(
        zip(("number", "root", "first", "count", "time_left", "flags"), body.unpack("I32sHBIB"))
    ),
    "data": lambda body: {"number": body.unpack("I"), "chunk": body.unpack("H"), "payload": body.rest()},
    "reject": lambda body: dict(
        zip(("number", "first", "count", "reason", "retry_after"), body.unpack("IHBBI"))
    ),
    "cancel": lambda body: {"number": body.unpack("I")},
    "choke": lambda body: {"retry_after": body.unpack("I")},
    "unchoke": lambda body: {},
    "peers": read_peers,
    "ping": lambda body: {"token": body.unpack("I")},
    "pong": lambda body: {"token": body.unpack("I")},
    "bye": lambda body: {"code": body.unpack("B")},
}
