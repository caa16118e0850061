internal import CoreModel

/// What a peer can still send, within a pass.
struct PeerOffer: Sendable {
    let peer: PeerKey
    /// Whether the peer may be asked for anything.
    var isOpen: Bool
    /// When it would have sent one chunk more, as a span from now.
    var finish: Duration
    /// Chunks outstanding of the segment that is being planned.
    var segmentOutstanding = 0
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
        var taken = taken(id)
        taken.subtract(lateFromCDN(id, geometry, head: head, now: now))
        guard !taken.contains(geometry.chunks) else { return false }
        let isTight = tracks[id.track].segments[id.index].room.map { $0 < configuration.tightRoom } ?? false
        guard isTight else { return askInOrder(id, geometry, taken, below: geometry.chunkCount, head: head, now: now) }
        // What is played soon comes first, whoever has it; of the rest each viewer takes what fewest have, so that all
        // have something to give to each other.
        let ordered = orderedCount(id, geometry, head: head)
        var hasAsked = false
        if ordered > 0 { hasAsked = askInOrder(id, geometry, taken, below: ordered, head: head, now: now) }
        if ordered < geometry.chunkCount, askSpread(id, geometry, from: ordered, head: head, now: now) {
            hasAsked = true
        }
        return hasAsked
    }

    /// What the CDN has been asked for and, at its rate, will bring when it has been missed for some time: peers may be
    /// sooner. Nothing while the CDN is fast enough to play from, for then peers' bytes would only keep its own waiting.
    private mutating func lateFromCDN(
        _ id: SegmentID, _ geometry: SegmentGeometry, head: Duration, now: MonotonicInstant
    ) -> ChunkSet {
        var late = ChunkSet()
        guard let rate = cdnThroughput.bytesPerSecond, transfers.contains(where: { $0.segment == id }),
            !canPlayFromCDN(id)
        else { return late }
        let own = rate / Double(transfers.count)
        for transfer in transfers where transfer.segment == id {
            let chunks = transfer.chunks?.clamped(to: geometry.chunks) ?? geometry.chunks
            let position = transfer.position(in: chunks)
            // The next one is on its way.
            var (low, high) = (max(chunks.lowerBound, min(position + 1, chunks.upperBound)), chunks.upperBound)
            while low < high {
                let middle = (low + high) / 2
                let bytes = Double((middle + 1 - position) * SegmentGeometry.chunkByteCount)
                let need = Duration.clamping(seconds: bytes / own)
                let left = timeLeft(id, chunk: middle, of: geometry.chunkCount, head: head)
                if need > max(left, configuration.peerReserve) { high = middle } else { low = middle + 1 }
            }
            if low < chunks.upperBound { late.insert(low..<chunks.upperBound) }
        }
        // Who only expects it may well wait for this viewer.
        var held = ChunkSet()
        for holder in tracks[id.track].segments[id.index].holders where isSending(holder.peer, now) {
            held.formUnion(holder.holding.verified)
        }
        held.subtract(tracks[id.track].segments[id.index].present)
        held.subtract(tracks[id.track].segments[id.index].requested)
        var unheld = late
        unheld.subtract(held)
        late.subtract(unheld)
        return late
    }

    /// Whether the peer has sent something, has not failed since and is not silent now.
    private func isSending(_ key: PeerKey, _ now: MonotonicInstant) -> Bool {
        guard let index = peerIndex(key), peers[index].uploads, !peers[index].isSilent(now) else { return false }
        return peers[index].isReliable && peers[index].throughput.bytesPerSecond != nil
    }

    /// Ends transfers of which all that is still to come is there, or was asked of peers since they will be sooner.
    mutating func endSuperseded(_ id: SegmentID, now: MonotonicInstant) {
        guard let geometry = tracks[id.track].segments[id.index].geometry else { return }
        var index = 0
        while index < transfers.count {
            let transfer = transfers[index]
            let segment = tracks[id.track].segments[id.index]
            guard transfer.segment == id, !segment.requested.isEmpty else {
                index += 1
                continue
            }
            let chunks = transfer.chunks?.clamped(to: geometry.chunks) ?? geometry.chunks
            let position = max(chunks.lowerBound, transfer.position(in: chunks))
            var others = segment.present
            for request in requests where request.segment == id && !request.isStanding && isSending(request.peer, now) {
                others.formUnion(request.open)
            }
            guard position < chunks.upperBound, others.contains(position..<chunks.upperBound) else {
                index += 1
                continue
            }
            emit(.cancelFetch(close(at: index).id, .handedBack))
        }
    }

    /// How many chunks from the segment's start on are played within ``SchedulerConfiguration/orderedSpan``.
    private mutating func orderedCount(_ id: SegmentID, _ geometry: SegmentGeometry, head: Duration) -> Int {
        let count = geometry.chunkCount
        let span = configuration.orderedSpan
        guard timeLeft(id, chunk: 0, of: count, head: head) < span else { return 0 }
        let description = tracks[id.track].descriptions[id.index]
        guard description.playsProgressively else { return count }
        let times = PlayTimes(description)
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if times.time(before: middle, of: count) - head < span { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Asks for what is missing of the chunks before `end`, each of the peer that would send it first.
    private mutating func askInOrder(
        _ id: SegmentID, _ geometry: SegmentGeometry, _ taken: ChunkSet, below end: Int, head: Duration,
        now: MonotonicInstant
    ) -> Bool {
        // What is asked for in this call lies behind `chunk`, so that `taken` stays right.
        let latestLeft = timeLeft(id, chunk: geometry.chunkCount - 1, of: geometry.chunkCount, head: head)
        var open = askable(id, left: latestLeft, now: now)
        open.subtract(taken)
        var hasAsked = false
        var chunk = 0
        while let next = open.firstChunk(from: chunk), next < end {
            let stripe = geometry.chunkRange(ofStripe: geometry.stripe(ofChunk: next))
            let limit = min(taken.firstChunk(from: next) ?? stripe.upperBound, stripe.upperBound)
            let left = timeLeft(id, chunk: next, of: geometry.chunkCount, head: head)
            guard let choice = bestPeer(for: id, chunk: next, left: left) else {
                chunk = next + 1
                continue
            }
            let holding = tracks[id.track].segments[id.index].holders[choice.holder].holding
            var held = choice.isStanding ? holding.expected : holding.verified
            if choice.isStanding { held.formUnion(holding.verified) }
            let room = peers[choice.peer].room
            let count = min(held.runLength(from: next), limit - next, max(room, 1))
            request(id, next..<next + count, from: choice.peer, isStanding: choice.isStanding, left: left, now: now)
            hasAsked = true
            chunk = next + count
            open = askable(id, left: latestLeft, now: now)
            open.subtract(taken)
        }
        return hasAsked
    }

    /// Asks each peer that has room for a few chunks of those that fewest have, the fastest peer first.
    private mutating func askSpread(
        _ id: SegmentID, _ geometry: SegmentGeometry, from start: Int, head: Duration, now: MonotonicInstant
    ) -> Bool {
        let count = geometry.chunkCount
        let perSecond = Double(count) / max(0.1, tracks[id.track].descriptions[id.index].duration.inSeconds)
        let limit = max(2 * SegmentGeometry.chunksPerStripe, Int(perSecond * configuration.tightOutstanding.inSeconds))
        var budget = limit - tracks[id.track].segments[id.index].requested.count
        guard budget >= Self.halfStripe else { return false }
        refreshOffers(now: now)
        let candidates = spreadCandidates(id, left: timeLeft(id, chunk: start, of: count, head: head))
        guard !candidates.isEmpty else { return false }
        let rarity = rarity(of: id, count: count)
        var hasAsked = false
        for candidate in candidates where budget >= Self.halfStripe {
            let holding = tracks[id.track].segments[id.index].holders[candidate.holder].holding
            let taken = taken(id)
            guard let found = rarestRun(of: holding, taken, rarity, in: start..<count) else { continue }
            // Of what is rare many ask at once: each for little, and not all for the same.
            let most = found.isRare ? Self.halfStripe / 2 : Self.halfStripe
            let isLater =
                found.chunks.count > most && configuration.seed >> UInt64(found.chunks.lowerBound & 31) & 1 != 0
            let chunk = found.chunks.lowerBound + (isLater ? most : 0)
            let isStanding = !holding.verified.contains(chunk)
            let held = isStanding ? holding.all : holding.verified
            let run = min(found.chunks.upperBound - chunk, held.runLength(from: chunk), max(candidate.room, 1), most)
            var left = timeLeft(id, chunk: chunk, of: count, head: head)
            // Peers send first what has the least time: what hardly anybody has multiplies first.
            if found.isRare { left = min(left, configuration.rareTimeLeft) }
            request(id, chunk..<chunk + run, from: candidate.peer, isStanding: isStanding, left: left, now: now)
            budget -= run
            hasAsked = true
        }
        return hasAsked
    }

    private struct SpreadCandidate {
        var finish: Duration
        var outstanding: Int
        var holder: Int
        var peer: Int
        /// Chunks of the segment that it may be asked for.
        var room: Int

        /// Whether it is asked before one that was found before it.
        func isBefore(_ other: SpreadCandidate) -> Bool {
            finish == other.finish ? outstanding < other.outstanding : finish < other.finish
        }
    }

    /// The holders that are to be asked, who would send first coming first.
    private mutating func spreadCandidates(_ id: SegmentID, left: Duration) -> [SpreadCandidate] {
        let latest = latest(left)
        // What a peer has to send of earlier segments does not keep the first chunks of this one from spreading.
        for index in offers.indices { offers[index].segmentOutstanding = 0 }
        for place in requests.indices where requests[place].segment == id {
            if let index = peerIndex(requests[place].peer) {
                offers[index].segmentOutstanding += requests[place].open.count
            }
        }
        let taken = taken(id)
        var candidates: [SpreadCandidate] = []
        let holders = tracks[id.track].segments[id.index].holders
        var index = 0
        for place in holders.indices {
            while offers[index].peer < holders[place].peer { index += 1 }
            guard offers[index].isOpen else { continue }
            // Who is idle, or has room for a whole request: few requests, and none waits long.
            let outstanding = offers[index].segmentOutstanding
            let room = peers[index].tightLimit - outstanding
            guard outstanding == 0 || room >= Self.halfStripe, offers[index].finish < latest,
                !holders[place].holding.isWithin(taken)
            else { continue }
            let candidate = SpreadCandidate(
                finish: offers[index].finish, outstanding: peers[index].outstandingChunks, holder: place, peer: index,
                room: room)
            // There are a handful: each goes to its place.
            if candidates.isEmpty { candidates.reserveCapacity(holders.count - place) }
            var spot = candidates.count
            while spot > 0, candidate.isBefore(candidates[spot - 1]) { spot -= 1 }
            candidates.insert(candidate, at: spot)
        }
        return candidates
    }

    /// For each word of a segment's chunks: those that at least one, two, three and four peers have or will have.
    private mutating func rarity(of id: SegmentID, count: Int) -> [SIMD4<UInt64>] {
        var counts = Array(repeating: SIMD4<UInt64>.zero, count: (count + 63) / 64)
        var index = 0
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices {
            while offers[index].peer < holders[place].peer { index += 1 }
            guard peers[index].uploads else { continue }
            for word in counts.indices {
                let bits = holders[place].holding.verified.bits(word) | holders[place].holding.expected.bits(word)
                guard bits != 0 else { continue }
                counts[word][3] |= counts[word][2] & bits
                counts[word][2] |= counts[word][1] & bits
                counts[word][1] |= counts[word][0] & bits
                counts[word][0] |= bits
            }
        }
        return counts
    }

    /// Of what a peer has and this viewer lacks, a run of chunks that fewest have: within a half of a stripe, so that whole
    /// halves go around and few requests name few chunks. Which of several, each viewer draws for itself.
    private mutating func rarestRun(
        of holding: Holding, _ taken: ChunkSet, _ rarity: [SIMD4<UInt64>], in range: Range<Int>
    ) -> (chunks: Range<Int>, isRare: Bool)? {
        var draw = configuration.seed ^ UInt64(requests.last?.id.rawValue ?? 0) &* 0x9E37_79B9_7F4A_7C15
        draw = (draw ^ draw >> 29) &* 0xBF58_476D_1CE4_E5B9
        let offset = range.lowerBound + Int((draw ^ draw >> 32) % UInt64(range.count))
        for few in 0..<4 {
            var best: Range<Int>?
            // First from the draw on, then from the start.
            for part in [offset..<range.upperBound, range.lowerBound..<offset] where !part.isEmpty {
                for word in part.lowerBound >> 6...(part.upperBound - 1) >> 6 {
                    let useful = (holding.verified.bits(word) | holding.expected.bits(word)) & ~taken.bits(word)
                    // Those that at least so many have, and not one more.
                    var bits = useful & rarity[word][few]
                    if few < 3 { bits &= ~rarity[word][few + 1] }
                    while bits != 0 {
                        let bit = bits.trailingZeroBitCount
                        let half = bit & ~(Self.halfStripe - 1)
                        let run = min((~useful >> UInt64(bit)).trailingZeroBitCount, half + Self.halfStripe - bit)
                        bits &= ~((1 << UInt64(run)) - 1) << UInt64(bit)
                        let chunk = word * 64 + bit
                        guard part.contains(chunk), run > best?.count ?? 0 else { continue }
                        // One of a pair whose other one is missing too can wait until the peer has both.
                        guard run > 1 || taken.contains(chunk ^ 1) || !range.contains(chunk ^ 1) else { continue }
                        best = chunk..<min(chunk + run, range.upperBound)
                        if run == Self.halfStripe { return best.map { ($0, few == 0) } }
                    }
                }
            }
            if let best { return (best, few == 0) }
        }
        return nil
    }

    private static let halfStripe = SegmentGeometry.chunksPerStripe / 2

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

    /// How far a peer is ahead of what this viewer may want, in steps: those behind can be asked by fewer others, so that
    /// who is further ahead is left to those who have nobody else.
    private mutating func lead(ofPeer index: Int) -> Int {
        let lead = peers[index].reach - offersFrom
        return lead < Self.leadStep ? 0 : Int(lead.components.seconds / Self.leadStep.components.seconds)
    }

    private static let leadStep = Duration.seconds(30)

    /// The peer to ask for a chunk: of those that would send it in time the one least ahead; of several such the one that
    /// would send it first, then the one with less outstanding, then the lower key.
    private mutating func bestPeer(for id: SegmentID, chunk: Int, left: Duration) -> Choice? {
        let latest = latest(left)
        var best: (lead: Int, finish: Duration, outstanding: Int, choice: Choice)?
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
            let lead = lead(ofPeer: index)
            if let current = best,
                (lead, finish, outstanding) >= (current.lead, current.finish, current.outstanding)
            {
                continue
            }
            best = (lead, finish, outstanding, Choice(holder: place, peer: index, isStanding: !isVerified))
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
        peers[index].ask(chunks.count, now: now)
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
