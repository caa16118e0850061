internal import CoreModel

/// What is asked of peers.
extension Scheduler {
    /// Asks peers for what is missing of a segment, from its front on.
    mutating func planPeers(_ id: SegmentID, head: Duration, now: MonotonicInstant) {
        let segment = tracks[id.track][id.index]
        guard segment.description.start < head + configuration.peerWindow, let geometry = segment.geometry else {
            return
        }
        let left = timeLeft(id, head: head)
        for stripe in 0..<geometry.stripeCount {
            for run in tracks[id.track][id.index].missing(in: geometry.chunkRange(ofStripe: stripe)) {
                ask(id, run, left: left, now: now)
            }
        }
    }

    private mutating func ask(_ id: SegmentID, _ run: Range<Int>, left: Duration, now: MonotonicInstant) {
        var chunk = run.lowerBound
        while chunk < run.upperBound {
            guard let choice = bestPeer(for: id, chunk: chunk, left: left, now: now) else {
                chunk += 1
                continue
            }
            let holding = peers[choice.index].holdings[id] ?? Holding()
            var held = choice.isStanding ? holding.expected : holding.verified
            if choice.isStanding { held.formUnion(holding.verified) }
            let room = peers[choice.index].capacity(configuration)
            let count = min(held.runLength(from: chunk), run.upperBound - chunk, max(room, 1))
            request(id, chunk..<chunk + count, from: choice.index, isStanding: choice.isStanding, left: left, now: now)
            chunk += count
        }
    }

    private struct Choice {
        var index: Int
        var isStanding: Bool
    }

    /// The peer that would send a chunk first; ties go to the one with less outstanding, then the lower key.
    private func bestPeer(for id: SegmentID, chunk: Int, left: Duration, now: MonotonicInstant) -> Choice? {
        var best: (finish: Duration, outstanding: Int, choice: Choice)?
        for index in peers.indices {
            let peer = peers[index]
            guard peer.uploads, peer.restsUntil <= now, let holding = peer.holdings[id] else { continue }
            let isVerified = holding.verified.contains(chunk)
            guard isVerified || holding.expected.contains(chunk), peer.capacity(configuration) > 0 else { continue }
            // What is only expected takes the peer's own transfer first.
            let finish = peer.finish(after: 1, configuration) + (isVerified ? .zero : .milliseconds(300))
            // Of no use when it would come after the CDN had to be asked anyway.
            guard finish < max(left, .milliseconds(500)) else { continue }
            let candidate = (
                finish: finish, outstanding: peer.outstandingChunks,
                choice: Choice(index: index, isStanding: !isVerified)
            )
            guard let current = best else {
                best = candidate
                continue
            }
            if (candidate.finish, candidate.outstanding) < (current.finish, current.outstanding) { best = candidate }
        }
        return best?.choice
    }

    private mutating func request(
        _ id: SegmentID, _ chunks: Range<Int>, from index: Int, isStanding: Bool, left: Duration,
        now: MonotonicInstant
    ) {
        let request = makeRequestID()
        let key = peers[index].key
        requests[request] = PeerRequest(
            peer: key, segment: id, open: ChunkSet(chunks), isStanding: isStanding, askedAt: now)
        if peers[index].outstandingChunks == 0 {
            peers[index].busySince = now
            peers[index].lastProgress = now
        }
        peers[index].outstandingChunks += chunks.count
        tracks[id.track][id.index].requested.insert(chunks)
        let timeLeft = min(max(left, .milliseconds(500)), .seconds(60))
        emit(
            .request(
                request, key, id, chunks: chunks, timeLeft: timeLeft, isStanding ? .peerExpects : .peerHolds))
    }
}
