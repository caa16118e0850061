"""One end of a link, on asyncio, from the document of the peer protocol."""

import asyncio
import os
import struct

import frames
from formats import Certificate
from noise import Handshake, NoiseError, public_key

PATTERNS = {1: "xx", 2: "ik"}


class Closed(Exception):
    """The link is over: `code` is the bye's, or None when the connection was closed without a word."""

    def __init__(self, code):
        super().__init__("closed silently" if code is None else f"bye {code}")
        self.code = code


class Identity:
    """Who this peer is: its keys, its certificate and what it trusts."""

    def __init__(self, seed, certificate, swarm, membership_keys, claim_seed=None, now=None):
        self.seed, self.certificate, self.swarm = seed, certificate, swarm
        self.membership_keys, self.claim_seed, self.now = membership_keys, claim_seed, now

    @property
    def key(self):
        return public_key(self.seed)


class Holdings:
    """What a peer said that it holds: chunks by root."""

    def __init__(self):
        self.verified = {}
        self.complete = set()

    def take(self, entries):
        for root, change, verified, _ in entries:
            self.complete.discard(root)
            if change == 0:
                self.verified.pop(root, None)
            elif change == 1:
                self.complete.add(root)
            else:
                held = self.verified.setdefault(root, set()) if change == 3 else set()
                held.update(chunk for first, count in verified for chunk in range(first, first + count))
                self.verified[root] = held

    def has(self, root, chunk):
        return root in self.complete or chunk in self.verified.get(root, ())


class Link:
    def __init__(self, reader, writer, identity):
        self.reader, self.writer, self.identity = reader, writer, identity
        self.pending = []
        self.hello = None
        self.peer_certificate = None
        self.holdings = Holdings()

    @classmethod
    async def connect(cls, address, identity, remote=None, port=0, ephemeral=None, flags=1):
        """Opens a link as the initiator: IK when `remote`, the other's key, is given, XX otherwise."""
        reader, writer = await asyncio.open_connection(*address)
        link = cls(reader, writer, identity)
        try:
            await link._initiate(remote, port, ephemeral or os.urandom(32), flags)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            raise Closed(None)
        except BaseException:
            writer.close()
            raise
        return link

    @classmethod
    async def accept(cls, reader, writer, identity, port=0, ephemeral=None):
        """Answers as the responder."""
        link = cls(reader, writer, identity)
        preamble = await reader.readexactly(2)
        if preamble[0] not in PATTERNS or preamble[1] != 1:
            writer.close()
            raise Closed(None)
        pattern = PATTERNS[preamble[0]]
        prologue = b"pdn-peer" + preamble + identity.swarm
        handshake = Handshake(pattern, False, identity.seed, ephemeral or os.urandom(32), prologue)
        payload = handshake.read(await link._read_handshake())
        if pattern == "xx":
            link._write_handshake(handshake.write())
            payload = handshake.read(await link._read_handshake())
        link._judge(payload, handshake.remote)
        if pattern == "ik":
            link._write_handshake(handshake.write(identity.certificate))
        link._begin(handshake)
        link.send(frames.hello(port=port, certificate=identity.certificate if pattern == "xx" else b""))
        link.hello = await link.receive()
        return link

    async def _initiate(self, remote, port, ephemeral, flags):
        pattern = 2 if remote else 1
        preamble = bytes([pattern, 1])
        identity = self.identity
        prologue = b"pdn-peer" + preamble + identity.swarm
        handshake = Handshake(PATTERNS[pattern], True, identity.seed, ephemeral, prologue, remote)
        self.writer.write(preamble)
        self._write_handshake(handshake.write(identity.certificate if remote else b""))
        payload = handshake.read(await self._read_handshake())
        if remote:
            self._judge(payload, remote)
            self._begin(handshake)
            self.send(frames.hello(port=port, flags=flags))
            self.hello = await self.receive()
        else:
            self._write_handshake(handshake.write(identity.certificate))
            self._begin(handshake)
            self.hello = await self.receive()
            self._judge(self.hello["certificate"], handshake.remote)
            self.send(frames.hello(port=port, flags=flags))
        if self.hello["type"] != "hello":
            raise frames.FrameError("no hello")

    def _begin(self, handshake):
        self.remote = handshake.remote
        self.handshake_hash = handshake.hash
        self.sending, self.receiving = handshake.split()

    def _judge(self, encoded, key):
        certificate = Certificate(encoded, self.identity.membership_keys, self.identity.swarm, self.identity.now)
        if certificate.peer != key:
            raise NoiseError("another peer's certificate")
        self.peer_certificate = encoded

    def _write_handshake(self, message):
        self.writer.write(struct.pack(">H", len(message)) + message)

    async def _read_handshake(self):
        length = int.from_bytes(await self.reader.readexactly(2), "big")
        if not 32 <= length <= 512:
            raise NoiseError("handshake length")
        return await self.reader.readexactly(length)

    def send(self, *encoded):
        """Sends frames in one message."""
        sealed = self.sending.seal(b"".join(encoded))
        self.writer.write(struct.pack(">H", len(sealed)) + sealed)

    async def drain(self):
        try:
            await self.writer.drain()
        except ConnectionError as error:
            raise Closed(None) from error

    async def receive(self, timeout=None):
        """The next frame; pings are answered on the way. Raises Closed at the end, TimeoutError when none comes."""
        if not self.pending:
            try:
                async with asyncio.timeout(timeout):
                    length = int.from_bytes(await self.reader.readexactly(2), "big")
                    self.pending = frames.parse(self.receiving.open(await self.reader.readexactly(length)))
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise Closed(None) from error
        frame = self.pending.pop(0)
        if frame["type"] == "ping":
            self.send(frames.pong(frame["token"]))
        if frame["type"] == "have":
            self.holdings.take(frame["entries"])
        if frame["type"] == "bye":
            raise Closed(frame["code"])
        return frame

    async def close(self, code=0):
        try:
            self.send(frames.bye(code))
            await self.writer.drain()
        except ConnectionError:
            pass
        self.writer.close()
