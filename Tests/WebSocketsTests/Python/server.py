"""An echoing server with the `websockets` package: server.py [CERTIFICATE KEY]. Prints its port and serves.

A message "ping" is answered after a ping's answer, "close" with a close."""
import asyncio
import ssl
import sys

from websockets.asyncio.server import serve


async def echo(socket):
    async for message in socket:
        if message == b"ping":
            await (await socket.ping(b"ping"))
        if message == b"close":
            return await socket.close(4000, "as asked")
        await socket.send(message)


async def main(arguments):
    context = None
    if arguments:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*arguments)
    async with serve(
        echo, "127.0.0.1", 0, subprotocols=["pdn-control-1"], compression=None, ssl=context, max_size=1 << 20
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if sys.argv[1:] == ["--help"]:
    print(__doc__)
    sys.exit()
asyncio.run(main(sys.argv[1:]))
