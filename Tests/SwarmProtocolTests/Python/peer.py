"""An independent peer, honest or not: peer.py MODE --config FILE …, one JSON document on standard output.

The configuration is JSON, binary values in hexadecimal:

  swarm, seed (X25519), certificate, membershipKeys [..], authorities [..], stream (optional)
  claimSeed (optional)       the Ed25519 seed of the certificate's claim key
  source {address, key}      a peer to download from, honestly; key may be left out (XX)
  victim {address, key}      the peer to attack, where that is another one
  names [[epoch, rendition, kind, section, number, offset, part], …]   segments to work with; rendition in hexadecimal
  catalogue FILE             or all segments of a catalogue
  time SECONDS               the time to check certificates against, if not the system's

Modes: see MODES at the end. Exit code 0 when the mode ran to its end, whatever came of it; 4 when nobody could be reached.
"""

import argparse
import asyncio
import hashlib
import json
import os
import struct
import sys
import time

import formats
import frames
from link import Closed, Identity, Link


def address(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


class Setting:
    """The configuration, read."""

    def __init__(self, values, arguments):
        self.values = values
        self.now = values.get("time")
        self.authorities = [bytes.fromhex(key) for key in values.get("authorities", [])]
        self.stream = bytes.fromhex(values["stream"]) if "stream" in values else None
        self.identity = Identity(
            bytes.fromhex(values["seed"]), bytes.fromhex(values["certificate"]), bytes.fromhex(values["swarm"]),
            [bytes.fromhex(key) for key in values["membershipKeys"]],
            bytes.fromhex(values["claimSeed"]) if "claimSeed" in values else None, self.now)
        self.patience = arguments.patience
        self.segments = {}
        if "catalogue" in values:
            with open(values["catalogue"], "rb") as file:
                catalogue = formats.Catalogue(file.read(), self.authorities, self.now)
            self.stream = catalogue.stream
            self.segments = {segment.root: segment for segment in catalogue.segments}

    @property
    def names(self):
        return [(self.stream, name[0], int(name[1], 16), *name[2:]) for name in self.values.get("names", [])]

    async def connect(self, role, identity=None):
        """Opens a link to the `source` or the `victim`."""
        target = self.values[role] if role in self.values else self.values["source"]
        key = bytes.fromhex(target["key"]) if target.get("key") else None
        link = await Link.connect(address(target["address"]), identity or self.identity, key)
        return link

    def segment(self, signed):
        segment = formats.Segment(signed, self.authorities, self.stream, self.now)
        self.segments[segment.root] = segment
        return segment


async def fetch_records(setting, link):
    """The records of the configured names, from the peer."""
    missing = dict(enumerate(setting.names))
    link.send(*[frames.record_request(number, name) for number, name in missing.items()])
    absent = 0
    while missing:
        frame = await link.receive(setting.patience)
        if frame["type"] == "record":
            name = missing.pop(frame["number"])
            if not frame["signed"]:
                absent += 1
            elif setting.segment(frame["signed"]).name != name:
                raise formats.FormatError("the record of another name")
    return absent


async def download(setting, link, wanted=None):
    """Downloads and verifies segments, as an honest peer does. Returns them once they are whole."""
    wanted = list(setting.segments.values()) if wanted is None else wanted
    number, open_requests = 100, {}
    deadline = time.monotonic() + setting.patience
    while any(len(segment.chunks) < segment.chunk_count for segment in wanted):
        under_way = {(root, chunk) for root, chunks in open_requests.values() for chunk in chunks}
        for segment in wanted:
            for first in range(0, segment.chunk_count, 64):
                chunks = [
                    chunk for chunk in range(first, min(first + 64, segment.chunk_count))
                    if chunk not in segment.chunks and (segment.root, chunk) not in under_way
                    and link.holdings.has(segment.root, chunk)
                ]
                # Only whole runs: what is in between is on its way.
                while chunks and sum(len(c) for _, c in open_requests.values()) + 64 <= link.hello["queue"]:
                    run = [chunks[0]]
                    while run[-1] + 1 in chunks:
                        run.append(run[-1] + 1)
                    chunks = [chunk for chunk in chunks if chunk not in run]
                    number += 1
                    open_requests[number] = (segment.root, set(run))
                    link.send(frames.request(number, segment.root, run[0], len(run), 20_000))
        frame = await link.receive(max(0.01, deadline - time.monotonic()))
        kind = frame["type"]
        if kind == "leaves":
            setting.segments[frame["root"]].accept_leaves(frame["stripe"], frame["leaves"])
        elif kind == "data":
            root, chunks = open_requests[frame["number"]]
            setting.segments[root].accept(frame["chunk"], frame["payload"])
            chunks.remove(frame["chunk"])
        elif kind == "reject":
            root, chunks = open_requests[frame["number"]]
            chunks.difference_update(range(frame["first"], frame["first"] + frame["count"]))
            if frame["reason"] not in (2, 3):
                raise formats.FormatError(f"rejected: {frames.REASONS[frame['reason']]}")
        for done in [number for number, (_, chunks) in open_requests.items() if not chunks]:
            del open_requests[done]
    return wanted


async def honest(setting):
    """Fetches records and segments from the source, and verifies them."""
    link = await setting.connect("source")
    if setting.names:
        await fetch_records(setting, link)
    segments = await download(setting, link)
    await link.close()
    return {
        "segments": [
            {"root": segment.root.hex(), "bytes": len(segment.data), "sha256": hashlib.sha256(segment.data).hexdigest()}
            for segment in segments
        ]
    }


async def refused(setting, identity):
    """What comes of a link that should not come about."""
    started = time.monotonic()
    try:
        link = await setting.connect("victim", identity)
    except Closed as closed:
        return {"established": False, "bye": closed.code, "seconds": round(time.monotonic() - started, 2)}
    # A responder that lets us in would answer a ping.
    link.send(frames.ping(1))
    try:
        while (await link.receive(setting.patience))["type"] != "pong":
            pass
        return {"established": True}
    except Closed as closed:
        return {"established": False, "bye": closed.code, "seconds": round(time.monotonic() - started, 2)}


async def stolen_certificate(setting):
    """Another peer's certificate with a key of one's own."""
    identity = setting.identity
    stolen = Identity(os.urandom(32), identity.certificate, identity.swarm, identity.membership_keys, now=setting.now)
    return await refused(setting, stolen)


async def as_configured(setting):
    """Joins with the certificate as it is: expired, of another swarm or tracker."""
    return await refused(setting, setting.identity)


async def altered_certificate(setting):
    """A certificate whose end was put off."""
    identity = setting.identity
    altered = bytearray(identity.certificate)
    altered[147] ^= 1
    forged = Identity(identity.seed, bytes(altered), identity.swarm, identity.membership_keys, now=setting.now)
    return await refused(setting, forged)


class Server:
    """Serves segments to the victim, with a lie of the mode's."""

    def __init__(self, setting, segments):
        self.setting, self.segments = setting, {segment.root: segment for segment in segments}
        self.result = {
            "requests": 0, "chunksRequested": 0, "chunksSent": 0, "leavesSent": 0, "cancels": 0, "rejectsSent": 0,
            "recordRequests": 0, "established": False, "bye": None, "secondsToBye": None,
        }
        self.tasks = []
        self.started = None

    # What a mode changes.

    def leaves(self, segment, stripe):
        return segment.leaves[stripe]

    def payload(self, segment, chunk):
        return segment.chunks[chunk]

    def record(self, name):
        for segment in self.segments.values():
            if segment.name == name:
                return segment.signed
        return b""

    async def opening(self, link):
        link.send(frames.have([(root, 1) for root in self.segments]))

    async def pause(self):
        pass

    async def run(self, is_again=False):
        """Serves until the victim ends the link or patience does; then knocks once more."""
        try:
            link = await self.setting.connect("victim")
        except Closed as closed:
            return {"established": False, "bye": closed.code}
        self.result["established"] = True
        self.started = time.monotonic()
        end = self.started + self.setting.patience
        try:
            await self.opening(link)
            while time.monotonic() < end:
                try:
                    await self.handle(link, await link.receive(end - time.monotonic()))
                except TimeoutError:
                    break
            await link.close()
        except Closed as closed:
            self.result["bye"] = closed.code
            self.result["secondsToBye"] = round(time.monotonic() - self.started, 2)
            self.result["again"] = await refused(self.setting, self.setting.identity)
        for task in self.tasks:
            task.cancel()
        return self.result

    async def handle(self, link, frame):
        kind = frame["type"]
        if kind == "request":
            self.result["requests"] += 1
            self.result["chunksRequested"] += frame["count"]
            self.tasks.append(asyncio.create_task(self.serve(link, frame)))
        elif kind == "cancel":
            self.result["cancels"] += 1
        elif kind == "record_request":
            self.result["recordRequests"] += 1
            link.send(frames.record(frame["number"], self.record(frame["name"])))

    async def serve(self, link, request):
        segment = self.segments.get(request["root"])
        number, first, count = request["number"], request["first"], request["count"]
        if segment is None:
            self.result["rejectsSent"] += 1
            return link.send(frames.reject(number, first, count, 1))
        told = set()
        try:
            for chunk in range(first, first + count):
                await self.pause()
                # Together with its chunk: nothing of another request comes in between.
                if request["flags"] & 1 and chunk // 8 not in told:
                    told.add(chunk // 8)
                    self.result["leavesSent"] += 1
                    link.send(frames.leaves(segment.root, chunk // 8, self.leaves(segment, chunk // 8)))
                link.send(frames.data(number, chunk, self.payload(segment, chunk)))
                self.result["chunksSent"] += 1
                await link.drain()
        except Closed:
            pass


class FlippedBit(Server):
    """One bit of each chunk is another."""

    def payload(self, segment, chunk):
        altered = bytearray(segment.chunks[chunk])
        altered[len(altered) // 3] ^= 4
        return bytes(altered)


class OtherSegment(Server):
    """Valid chunks of another segment."""

    def payload(self, segment, chunk):
        # Of the same place where there is one, so that the length fits; else of another place.
        for other in self.segments.values():
            if other is not segment and chunk in other.chunks:
                return other.chunks[chunk]
        return next(payload for index, payload in segment.chunks.items() if index != chunk)


class WrongLeaves(Server):
    """Leaf lists of made-up bytes."""

    def leaves(self, segment, stripe):
        return [formats.sha256(leaf) for leaf in segment.leaves[stripe]]


class ShortLeaves(Server):
    """Leaf lists with a leaf too few."""

    def leaves(self, segment, stripe):
        return segment.leaves[stripe][:-1] or [bytes(32)] * 2


class WrongLength(Server):
    """Chunks with a byte too few."""

    def payload(self, segment, chunk):
        return segment.chunks[chunk][:-1]


class NeverDeliver(Server):
    """Says that it has everything, claims it too, and answers nothing."""

    async def opening(self, link):
        await super().opening(link)
        identity = self.setting.identity
        if identity.claim_seed:
            for segment in self.segments.values():
                statement = b"\x01" + segment.root + struct.pack(">QIB", 1, 0, 0) + identity.certificate
                signature = formats.sign("pdn/1 claim", statement, identity.claim_seed)
                link.send(frames.claim(0, statement + signature))

    async def serve(self, link, request):
        pass


class Drip(Server):
    """Serves 20 kB a second."""

    async def pause(self):
        await asyncio.sleep(formats.CHUNK / 20_000)


class Truthful(Server):
    """Serves what it has, honestly: the control of the experiment."""


class RecordServer(Server):
    """Answers record requests with a lie."""

    async def opening(self, link):
        pass

    def altered(self, name, **changes):
        """A record that says other things, signed by nobody who is trusted."""
        segment = next(iter(self.segments.values()))
        fields = list(formats.STATEMENT.unpack_from(segment.signed))
        fields[1:9] = name
        for index, value in changes.items():
            fields[int(index[1:])] = value
        now = int(self.setting.now or time.time())
        return formats.make_record(fields, segment.layer, os.urandom(32), now, now + 3600)


class ForgedRecord(RecordServer):
    """The right name, signed by a key of one's own."""

    def record(self, name):
        return self.altered(name)


class SpoofedRecord(RecordServer):
    """The right name with the trusted key's identifier and a made-up signature."""

    def record(self, name):
        signed = bytearray(self.altered(name))
        signed[105:113] = formats.key_id(self.setting.authorities[0])
        return bytes(signed)


class OtherRecord(RecordServer):
    """A valid record of another position."""

    def record(self, name):
        return next(segment.signed for segment in self.segments.values() if segment.name != name)


class OtherStreamRecord(RecordServer):
    """A record of another stream."""

    def record(self, name):
        return self.altered((formats.sha256(name[0])[:16], *name[1:]))


class OtherEpochRecord(RecordServer):
    """A record of another epoch."""

    def record(self, name):
        return self.altered((name[0], name[1] + 1, *name[2:]))


class OtherRenditionRecord(RecordServer):
    """A record of another rendition."""

    def record(self, name):
        return self.altered((*name[:2], name[2] ^ 1, *name[3:]))


class WrongLayerRecord(RecordServer):
    """The right record with a wrong stripe layer."""

    def record(self, name):
        signed = bytearray(super().record(name))
        signed[-1] ^= 1
        return bytes(signed)


async def serving(setting, kind):
    """Downloads from the source, then serves the victim with a lie."""
    link = await setting.connect("source")
    if setting.names:
        await fetch_records(setting, link)
    segments = await download(setting, link)
    await link.close()
    return await kind(setting, segments).run()


async def unasked(setting, make):
    """Sends what nobody asked for."""
    link = await setting.connect("victim")
    started = time.monotonic()
    try:
        for encoded in make(setting):
            link.send(encoded)
            await link.drain()
        while True:
            await link.receive(setting.patience)
    except Closed as closed:
        return {"established": True, "bye": closed.code, "seconds": round(time.monotonic() - started, 2)}
    except TimeoutError:
        return {"established": True, "bye": None, "tolerated": True}


async def raw(setting, alter):
    """Breaks the encryption of an established link."""
    link = await setting.connect("victim")
    sealed = link.sending.seal(frames.ping(1))
    link.writer.write(alter(struct.pack(">H", len(sealed)) + sealed))
    try:
        while (await link.receive(setting.patience))["type"] != "pong":
            pass
        return {"established": True, "tolerated": True}
    except Closed as closed:
        return {"established": True, "bye": closed.code}
    except TimeoutError:
        return {"established": True, "tolerated": True}


ROOT = bytes([9]) * 32
SERVERS = {
    "truthful": Truthful, "flipped-bit": FlippedBit, "other-segment": OtherSegment, "wrong-leaves": WrongLeaves,
    "short-leaves": ShortLeaves, "wrong-length": WrongLength, "never-deliver": NeverDeliver, "drip": Drip,
    "forged-record": ForgedRecord, "spoofed-record": SpoofedRecord, "other-record": OtherRecord,
    "other-stream-record": OtherStreamRecord, "other-epoch-record": OtherEpochRecord,
    "other-rendition-record": OtherRenditionRecord, "wrong-layer-record": WrongLayerRecord,
}
UNASKED = {
    "unsolicited-data": lambda _: [frames.data(1, 0, bytes(formats.CHUNK))],
    "unsolicited-leaves": lambda _: [frames.leaves(ROOT, 0, [ROOT])],
    "unsolicited-record": lambda _: [frames.record(1, b"record")],
    "unsolicited-reject": lambda _: [frames.reject(1, 0, 1, 1)],
    "unknown-frame": lambda _: [b"\x77\x00\x00"],
    "truncated-frame": lambda _: [frames.ping(1)[:-1]],
    "empty-data": lambda _: [frames.frame("data", bytes(6))],
    "second-hello": lambda _: [frames.hello()],
    "flood": lambda _: [frames.ping(number) for number in range(2000)],
    "request-flood": lambda _: [frames.request(number, ROOT, 0, 64, 60_000) for number in range(2000)],
}
MODES = {
    "honest": honest,
    "stolen-certificate": stolen_certificate,
    "altered-certificate": altered_certificate,
    "as-configured": as_configured,
    "altered-message": lambda setting: raw(setting, lambda message: message[:-1] + bytes([message[-1] ^ 1])),
    **{mode: (lambda setting, kind=kind: serving(setting, kind)) for mode, kind in SERVERS.items()},
    **{mode: (lambda setting, make=make: unasked(setting, make)) for mode, make in UNASKED.items()},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=sorted(MODES))
    parser.add_argument("--config", required=True)
    parser.add_argument("--patience", type=float, default=10, help="seconds after which a mode gives up")
    arguments = parser.parse_args()
    with open(arguments.config, encoding="utf-8") as file:
        setting = Setting(json.load(file), arguments)
    try:
        result = asyncio.run(MODES[arguments.mode](setting))
    except ConnectionRefusedError as error:
        print(f"nobody there: {error}", file=sys.stderr)
        return 4
    except (Closed, formats.FormatError, frames.FrameError, TimeoutError) as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"mode": arguments.mode, **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
