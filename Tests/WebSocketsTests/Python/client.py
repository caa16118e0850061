"""Talks to an echoing server with the `websockets` package: client.py URL. Prints "ok" when all came back."""
import asyncio
import sys

from websockets.asyncio.client import connect


async def main(url):
    async with connect(url, subprotocols=["pdn-control-1"], max_size=1 << 20) as socket:
        assert socket.subprotocol == "pdn-control-1", socket.subprotocol
        assert not socket.protocol.extensions, socket.protocol.extensions
        for size in (0, 1, 125, 126, 127, 4096, 65535, 65536):
            message = bytes(index * 7 % 251 for index in range(size))
            await socket.send(message)
            assert await socket.recv() == message, size
        # Fragments, with a ping between them.
        async def fragments():
            yield b"one "
            await (await socket.ping(b"between"))
            yield b"two "
            yield b"three"
        await socket.send(fragments())
        assert await socket.recv() == b"one two three"
        messages = [bytes([index % 256]) * index for index in range(500)]
        for message in messages:
            await socket.send(message)
        assert [await socket.recv() for _ in messages] == messages
    assert socket.close_code == 1000, socket.close_code
    # A text message is refused.
    async with connect(url) as socket:
        await socket.send("text")
        try:
            await socket.recv()
        except Exception:
            pass
        assert socket.close_code == 1003, socket.close_code
    print("ok")


asyncio.run(main(sys.argv[1]))
