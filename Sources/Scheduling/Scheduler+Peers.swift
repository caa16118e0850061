internal import CoreModel

/// What a peer can still send, within a pass.
struct PeerOffer: Sendable {
    let peer: PeerKey
    /// Whether the peer may be asked for anything.
    var isOpen: Bool
    /// When it would have sent one chunk more, as a span from now.
    var finish: Duration
}

/// What is asked of peers.
extension Scheduler {
    /// Asks peers for what is missing of a segment, from its front on.
    ///
    /// - Returns: Whether anything was asked for.
    mutating func planPeers(_ id: SegmentID, head: Duration, now: MonotonicInstant) -> Bool {
        guard !tracks[id.track].segments[id.index].holders.isEmpty,
            tracks[id.track].descriptions[id.index].start < head + configuration.peerWindow,
            let geometry = tracks[id.track].segments[id.index].geometry
        else { return false }
        // What is asked for in this call lies behind `chunk`, so these stay right.
        let taken = tracks[id.track].segments[id.index].taken
        guard !taken.contains(geometry.chunks) else { return false }
        let left = timeLeft(id, head: head)
        var open = askable(id, left: left, now: now)
        open.subtract(taken)
        var hasAsked = false
        var chunk = 0
        while let next = open.firstChunk(from: chunk), next < geometry.chunkCount {
            let stripe = geometry.chunkRange(ofStripe: geometry.stripe(ofChunk: next))
            let end = min(taken.firstChunk(from: next) ?? stripe.upperBound, stripe.upperBound)
            guard let choice = bestPeer(for: id, chunk: next, left: left) else { return hasAsked }
            let holding = tracks[id.track].segments[id.index].holders[choice.holder].holding
            var held = choice.isStanding ? holding.expected : holding.verified
            if choice.isStanding { held.formUnion(holding.verified) }
            let room = peers[choice.peer].room
            let count = min(held.runLength(from: next), end - next, max(room, 1))
            request(id, next..<next + count, from: choice.peer, isStanding: choice.isStanding, left: left, now: now)
            hasAsked = true
            chunk = next + count
            open = askable(id, left: left, now: now)
            open.subtract(taken)
        }
        return hasAsked
    }

    private struct Choice {
        var holder: Int
        var peer: Int
        var isStanding: Bool
    }

    /// What is only expected takes the peer's own transfer first.
    private static let standingDelay = Duration.milliseconds(300)

    /// Of no use is what would come after the CDN had to be asked anyway.
    private func latest(_ left: Duration) -> Duration { max(left, .milliseconds(500)) }

    mutating func refreshOffers(now: MonotonicInstant) {
        guard !areOffersFresh else { return }
        areOffersFresh = true
        offers.removeAll(keepingCapacity: true)
        openPeers = 0
        for index in peers.indices {
            offers.append(offer(of: index, now: now))
            if offers[index].isOpen { openPeers |= Self.mask(ofPeer: index) }
        }
    }

    /// The bit that stands for a peer in masks; those behind the 63rd share one.
    static func mask(ofPeer index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }

    private mutating func offer(of index: Int, now: MonotonicInstant) -> PeerOffer {
        let isOpen = peers[index].isOpen(now: now, configuration)
        return PeerOffer(peer: peers[index].key, isOpen: isOpen, finish: peers[index].finish)
    }

    /// The chunks that some peer would send in time, were it asked now.
    private mutating func askable(_ id: SegmentID, left: Duration, now: MonotonicInstant) -> ChunkSet {
        refreshOffers(now: now)
        let latest = latest(left)
        var chunks = ChunkSet()
        var index = 0
        // By place: a copy of a holding touches reference counts.
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices {
            while offers[index].peer < holders[place].peer { index += 1 }
            guard offers[index].isOpen, offers[index].finish < latest else { continue }
            chunks.formUnion(holders[place].holding.verified)
            if offers[index].finish + Self.standingDelay < latest {
                chunks.formUnion(holders[place].holding.expected)
            }
        }
        return chunks
    }

    /// The peer that would send a chunk first; ties go to the one with less outstanding, then the lower key.
    private func bestPeer(for id: SegmentID, chunk: Int, left: Duration) -> Choice? {
        let latest = latest(left)
        var best: (finish: Duration, outstanding: Int, choice: Choice)?
        var index = 0
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices {
            while offers[index].peer < holders[place].peer { index += 1 }
            guard offers[index].isOpen else { continue }
            let isVerified = holders[place].holding.verified.contains(chunk)
            guard isVerified || holders[place].holding.expected.contains(chunk) else { continue }
            let finish = offers[index].finish + (isVerified ? .zero : Self.standingDelay)
            guard finish < latest else { continue }
            let outstanding = peers[index].outstandingChunks
            if let current = best, (finish, outstanding) >= (current.finish, current.outstanding) { continue }
            best = (finish, outstanding, Choice(holder: place, peer: index, isStanding: !isVerified))
        }
        return best?.choice
    }

    private mutating func request(
        _ id: SegmentID, _ chunks: Range<Int>, from index: Int, isStanding: Bool, left: Duration,
        now: MonotonicInstant
    ) {
        let request = makeRequestID()
        let key = peers[index].key
        requests.append(
            PeerRequest(id: request, peer: key, segment: id, open: ChunkSet(chunks), isStanding: isStanding))
        if peers[index].outstandingChunks == 0 {
            peers[index].busySince = now
            peers[index].lastProgress = now
        }
        peers[index].outstandingChunks += chunks.count
        if areOffersFresh {
            offers[index] = offer(of: index, now: now)
            if !offers[index].isOpen, index < 63 { openPeers &= ~Self.mask(ofPeer: index) }
        }
        tracks[id.track].segments[id.index].requested.insert(chunks)
        let timeLeft = min(max(left, .milliseconds(500)), .seconds(60))
        emit(
            .request(
                request, key, id, chunks: chunks, timeLeft: timeLeft, isStanding ? .peerExpects : .peerHolds))
    }
}
