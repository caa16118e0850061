"""A member of a real swarm that lies: attacker.py MODE --tracker URL --catalogue FILE --authority KEY

Joins through the tracker like any viewer, says that it has every segment of the catalogue, fetches what it has not from
other viewers in the moment that it is asked, and serves it with the lie of the mode (those of peer.py that serve, or
`truthful`). Prints one JSON document: what became of it at each victim.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time

import formats
import frames
import peer
import tracker
from link import Closed, Identity, Link
from noise import NoiseError, public_key


class Victim:
    """What one viewer did with this peer."""

    def __init__(self, key, is_outgoing):
        self.values = {
            "peer": key.hex()[:16], "outgoing": is_outgoing, "requests": 0, "chunksRequested": 0, "chunksSent": 0,
            "chunksSentBeforeBye": None, "cancels": 0, "bye": None,
        }

    def count(self, name, amount=1):
        self.values[name] += amount


class Member:
    def __init__(self, arguments):
        self.arguments = arguments
        self.authorities = [bytes.fromhex(key) for key in arguments.authority]
        with open(arguments.catalogue, "rb") as file:
            self.catalogue = formats.Catalogue(file.read(), self.authorities)
        self.segments = {segment.root: segment for segment in self.catalogue.segments}
        self.seed, self.claim_seed = os.urandom(32), os.urandom(32)
        self.links, self.victims, self.tasks = {}, [], []
        self.waiting = {}
        self.turned_away = {}
        self.next_number = 1
        # The lie is the mode's; what it lies about comes from `fetch`.
        setting = argparse.Namespace(
            identity=None, values={}, patience=arguments.duration, authorities=self.authorities, now=None, segments={})
        self.liar = peer.SERVERS[arguments.mode](setting, list(self.segments.values()))

    async def run(self):
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        membership = await tracker.Tracker.join(
            self.arguments.tracker, self.catalogue.stream, self.seed, self.claim_seed, port)
        self.identity = Identity(
            self.seed, membership.certificate, membership.swarm, [membership.membership_key], self.claim_seed)
        self.liar.setting.identity = self.identity
        listening = asyncio.create_task(membership.listen(self.dial))
        # Until the time is over, or a signal says so: what was seen is worth printing either way.
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            await asyncio.wait_for(stop.wait(), self.arguments.duration)
        except TimeoutError:
            pass
        for task in [listening, *self.tasks]:
            task.cancel()
        membership.leave()
        server.close()
        return {
            "mode": self.arguments.mode, "peer": public_key(self.seed).hex()[:16],
            "fetched": sum(len(segment.chunks) for segment in self.segments.values()),
            "victims": [victim.values for victim in self.victims],
            "turnedAway": self.turned_away,
        }

    def dial(self, key, address):
        self.tasks.append(asyncio.create_task(self.keep(key, address)))

    async def keep(self, key, address):
        """Keeps a link to a viewer; one that turns this peer away is tried again, as an attacker would."""
        while True:
            if key not in self.links:
                try:
                    link = await Link.connect(address, self.identity, key)
                    await self.serve(key, link, True)
                except Closed as closed:
                    name = "silently" if closed.code is None else frames.BYES[closed.code]
                    self.turned_away[name] = self.turned_away.get(name, 0) + 1
                except (OSError, NoiseError, frames.FrameError, formats.FormatError):
                    return
            await asyncio.sleep(2)

    async def accept(self, reader, writer):
        try:
            link = await Link.accept(reader, writer, self.identity)
            await self.serve(link.remote, link, False)
        except (Closed, NoiseError, formats.FormatError, frames.FrameError, OSError, asyncio.IncompleteReadError):
            writer.close()

    async def serve(self, key, link, is_outgoing):
        """One link, until its end."""
        victim = Victim(key, is_outgoing)
        self.victims.append(victim)
        self.links[key] = link
        started = time.monotonic()
        tasks = []
        try:
            await self.liar.opening(link)
            while True:
                frame = await link.receive()
                kind = frame["type"]
                if kind == "request":
                    victim.count("requests")
                    victim.count("chunksRequested", frame["count"])
                    tasks.append(asyncio.create_task(self.answer(link, frame, victim)))
                elif kind == "cancel":
                    victim.count("cancels")
                elif kind == "record_request":
                    link.send(frames.record(frame["number"], self.liar.record(frame["name"])))
                elif kind == "leaves":
                    self.segments[frame["root"]].accept_leaves(frame["stripe"], frame["leaves"])
                elif kind == "data" and frame["number"] in self.waiting:
                    root, _ = self.waiting[frame["number"]]
                    self.segments[root].accept(frame["chunk"], frame["payload"])
                    self.settle(frame["number"], 1)
                elif kind == "reject" and frame["number"] in self.waiting:
                    self.settle(frame["number"], frame["count"])
        except Closed as closed:
            victim.values["bye"] = closed.code
            victim.values["chunksSentBeforeBye"] = victim.values["chunksSent"]
            victim.values["seconds"] = round(time.monotonic() - started, 2)
        finally:
            for task in tasks:
                task.cancel()
            link.writer.close()
            if self.links.get(key) is link:
                del self.links[key]

    def settle(self, number, count):
        """Takes note that chunks of a request have ended; who waited for them may be gone."""
        _, future = self.waiting[number]
        future.remaining -= count
        if future.remaining == 0:
            del self.waiting[number]
            if not future.done():
                future.set_result(None)

    async def fetch(self, segment, chunks, asker):
        """Has the chunks of a segment, from other viewers where it hasn't; false when nobody has them."""
        missing = [chunk for chunk in chunks if chunk not in segment.chunks]
        if not missing:
            return True
        for link in list(self.links.values()):
            if link is asker or not all(link.holdings.has(segment.root, chunk) for chunk in missing):
                continue
            number, self.next_number = self.next_number, self.next_number + 1
            future = asyncio.get_running_loop().create_future()
            # One run, even where a part of it is here: the request's form has no holes.
            future.remaining = missing[-1] - missing[0] + 1
            self.waiting[number] = (segment.root, future)
            link.send(frames.request(number, segment.root, missing[0], future.remaining, 10_000))
            try:
                await asyncio.wait_for(future, 10)
            except TimeoutError:
                return False
            return all(chunk in segment.chunks for chunk in missing)
        return False

    async def answer(self, link, request, victim):
        segment = self.segments.get(request["root"])
        number, first, count = request["number"], request["first"], request["count"]
        try:
            if segment is None or not await self.fetch(segment, range(first, first + count), link):
                return link.send(frames.reject(number, first, count, 1))
            before = self.liar.result["chunksSent"]
            await self.liar.serve(link, request)
            victim.count("chunksSent", self.liar.result["chunksSent"] - before)
        except (Closed, ConnectionError):
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=sorted(peer.SERVERS))
    parser.add_argument("--tracker", required=True)
    parser.add_argument("--catalogue", required=True, help="a local file")
    parser.add_argument("--authority", required=True, action="append", help="64 hexadecimal digits")
    parser.add_argument("--report", help="a file for the JSON, instead of standard output")
    parser.add_argument("--duration", type=float, default=20, help="seconds to stay")
    arguments = parser.parse_args()
    try:
        result = asyncio.run(Member(arguments).run())
    except (OSError, tracker.TrackerError) as error:
        print(f"the tracker can't be reached or turned us away: {error}", file=sys.stderr)
        return 4
    with open(arguments.report, "w", encoding="utf-8") if arguments.report else sys.stdout as file:
        print(json.dumps(result), file=file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
