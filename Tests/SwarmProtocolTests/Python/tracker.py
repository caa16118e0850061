"""A viewer's end of the control connection, from the document of the module TrackerProtocol, over a WebSocket of its own."""

import asyncio
import base64
import hashlib
import os
import struct
import urllib.parse

import formats


class TrackerError(Exception):
    pass


class WebSocket:
    """A client's WebSocket (RFC 6455): binary messages, no extensions, no TLS."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def connect(cls, url):
        parts = urllib.parse.urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError as error:
            raise TrackerError("closed") from error
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if " 101 " not in head.split("\r\n")[0] or accept.decode() not in head:
            raise TrackerError(head.split("\r\n")[0])
        return cls(reader, writer)

    def send(self, payload, opcode=2):
        mask = os.urandom(4)
        head = bytes([0x80 | opcode])
        if len(payload) < 126:
            head += bytes([0x80 | len(payload)])
        else:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(payload))
        self.writer.write(head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)))

    async def receive(self):
        """The next binary message; pings are answered on the way."""
        message = b""
        while True:
            first, second = await self.reader.readexactly(2)
            length = second & 0x7F
            if length > 125:
                size = 2 if length == 126 else 8
                length = int.from_bytes(await self.reader.readexactly(size), "big")
            payload = await self.reader.readexactly(length)
            opcode = first & 0x0F
            if opcode == 8:
                raise TrackerError("closed")
            if opcode == 9:
                self.send(payload, opcode=10)
            elif opcode in (0, 2):
                message += payload
                if first & 0x80:
                    return message


class Tracker:
    """A membership: what the welcome said, and the peers named so far."""

    def __init__(self, socket):
        self.socket = socket
        self.peers = {}

    @classmethod
    async def join(cls, url, stream, seed, claim_seed, port, flags=0, token=b""):
        from noise import public_key

        tracker = cls(await WebSocket.connect(url))
        challenge = await tracker.socket.receive()
        if challenge[0] != 0x40:
            raise TrackerError(f"message {challenge[0]:#x} and no challenge")
        nonce, peer = challenge[5:37], public_key(seed)
        signed = formats.sign("pdn/1 join", nonce + stream + peer + struct.pack(">H", port), claim_seed)
        tracker.socket.send(
            struct.pack(">BH", 1, 1) + stream + peer + formats.signing_public_key(claim_seed)
            + struct.pack(">HIQH", port, flags, 0, len(token)) + token + bytes(2) + signed
        )
        tracker._welcome(await tracker.socket.receive())
        return tracker

    def _welcome(self, message):
        if message[0] == 0x46:
            raise TrackerError(f"error {int.from_bytes(message[1:3], 'big')}")
        self.swarm = message[1:21]
        offset = 23 + int.from_bytes(message[21:23], "big")
        self.membership_key = message[offset : offset + 32]
        length = int.from_bytes(message[offset + 36 : offset + 38], "big")
        self.certificate = message[offset + 38 : offset + 38 + length]

    async def listen(self, on_peer):
        """Takes the tracker's messages, asks for more peers now and then, and reports, until cancelled."""
        reporting = asyncio.create_task(self._report())
        try:
            while True:
                message = await self.socket.receive()
                if message[0] == 0x42:
                    for index in range(message[1]):
                        key, host, port, _ = struct.unpack_from(">32s16sHQ", message, 2 + 58 * index)
                        if key not in self.peers:
                            self.peers[key] = (".".join(map(str, host[12:])), port)
                            on_peer(key, self.peers[key])
        finally:
            reporting.cancel()

    async def _report(self):
        await asyncio.sleep(1)
        while True:
            self.socket.send(struct.pack(">BBQIIIQQQIHH", 2, 1, 0, 10_000, 0, 0, 0, 0, 0, 0, len(self.peers), 0))
            self.socket.send(bytes([3, 16]))
            await asyncio.sleep(2)

    def leave(self):
        self.socket.send(bytes([5]))
        self.socket.writer.close()
