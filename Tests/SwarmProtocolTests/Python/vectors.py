"""Writes the golden vectors of the peer protocol to standard output: each frame, and links with fixed keys."""

import asyncio
import json

import frames
from link import Identity, Link
from noise import public_key

SWARM = bytes([7]) * 20
SEEDS = {"initiator": bytes([0x11]) * 32, "responder": bytes([0x22]) * 32}
EPHEMERALS = {"initiator": bytes([0x33]) * 32, "responder": bytes([0x44]) * 32}
CERTIFICATES = {"initiator": bytes([0xA1]) * 223, "responder": bytes([0xB2]) * 223}


def root(number):
    return bytes([number]) * 32


def all_frames():
    name = (
        bytes(range(16)), 0x10111213, 0x1415161718191A1B, 1, 0x1C1D1E1F20212223, 0x2425262728292A2B,
        0x2C2D2E2F30313233, 0x3435,
    )
    return [
        frames.hello(1, 2, 1, 6881, 256, bytes([0xC0, 0xC1, 0xC2])),
        frames.have([
            (root(0x11), 0), (root(0x22), 1), (root(0x33), 2, [(0, 8), (16, 1)], [(8, 8)]),
            (root(0x44), 3, [], [(4088, 8)]),
        ]),
        frames.claim(3, bytes([0xE0, 0xE1, 0xE2])),
        frames.record_request(0x01020304, name),
        frames.record(0x01020304, bytes([0xF0, 0xF1])),
        frames.leaves(root(0x11), 511, [root(0x55), root(0x66)]),
        frames.request(7, root(0x11), 1000, 64, 4321, True),
        frames.data(7, 1001, bytes([1, 2, 3, 4, 5])),
        frames.reject(7, 1002, 8, 2, 250),
        frames.cancel(7),
        frames.choke(3000),
        frames.unchoke(),
        frames.peers([
            (bytes(10) + b"\xff\xff" + bytes([192, 0, 2, 1]), 4433, bytes([0xAA])),
            (bytes.fromhex("20010db8000000000000000000000001"), 1, bytes([0xBB, 0xCC])),
        ]),
        frames.ping(0xDEADBEEF),
        frames.pong(0xDEADBEEF),
        frames.bye(14),
    ]


class Recorder:
    """A stream writer that keeps what it wrote, too."""

    def __init__(self, other):
        self.other, self.bytes = other, b""

    def write(self, data):
        self.bytes += data
        self.other.feed_data(data)

    def close(self):
        pass

    async def drain(self):
        pass


class TrustingLink(Link):
    """The certificates of the vectors are only bytes."""

    def _judge(self, encoded, key):
        self.peer_certificate = encoded


async def link(pattern):
    identities = {
        side: Identity(SEEDS[side], CERTIFICATES[side], SWARM, []) for side in ("initiator", "responder")
    }
    readers = {side: asyncio.StreamReader() for side in identities}
    writers = {
        "initiator": Recorder(readers["responder"]), "responder": Recorder(readers["initiator"]),
    }
    remote = public_key(SEEDS["responder"]) if pattern == "ik" else None
    initiator = TrustingLink(readers["initiator"], writers["initiator"], identities["initiator"])
    responder, _ = await asyncio.gather(
        TrustingLink.accept(
            readers["responder"], writers["responder"], identities["responder"], 6882, EPHEMERALS["responder"]),
        initiator._initiate(remote, 6881, EPHEMERALS["initiator"], 1),
    )
    initiator.send(frames.request(7, root(0x11), 0, 1, 5000, False))
    responder.send(frames.data(7, 0, bytes([1, 2, 3, 4, 5])))
    assert (await responder.receive())["root"] == root(0x11)
    assert (await initiator.receive())["payload"] == bytes([1, 2, 3, 4, 5])
    return {
        "pattern": pattern,
        "handshakeHash": initiator.handshake_hash.hex(),
        "initiator": writers["initiator"].bytes.hex(),
        "responder": writers["responder"].bytes.hex(),
    }


async def main():
    print(json.dumps({
        "swarm": SWARM.hex(),
        "seeds": {side: seed.hex() for side, seed in SEEDS.items()},
        "ephemeralSeeds": {side: seed.hex() for side, seed in EPHEMERALS.items()},
        "certificates": {side: certificate.hex() for side, certificate in CERTIFICATES.items()},
        "ports": {"initiator": 6881, "responder": 6882},
        "frames": [{"name": frames.TYPES[frame[0]], "bytes": frame.hex()} for frame in all_frames()],
        "links": [await link("ik"), await link("xx")],
    }, indent=1))


asyncio.run(main())
