internal import CoreModel

/// What inputs change.
extension Scheduler {
    mutating func learnSize(_ id: SegmentID, _ byteCount: Int) {
        guard has(id) else { return }
        if tracks[id.track].segments[id.index].byteCount == nil { setByteCount(id, byteCount) }
        settle(id)
    }

    /// Completes a segment whose chunks were there before its size was known.
    mutating func settle(_ id: SegmentID) {
        if tracks[id.track].arrive(id.index, 0..<0) { complete(id) }
    }

    /// Notes what a peer holds; true when that can change a decision.
    mutating func note(_ holding: Holding, of id: SegmentID, by key: PeerKey) -> Bool {
        guard let index = peerIndex(key), has(id) else { return false }
        if !failedOwners.isEmpty, !holding.verified.isEmpty, failedOwners[peers[index].member] != nil {
            failedOwners[peers[index].member] = nil
            rouseAll()
        }
        // What others have of it matters again when it is dropped: the driver tells it then.
        guard !isComplete(id) else { return false }
        let old = tracks[id.track].segments[id.index].setHolding(holding, of: key)
        if !holding.verified.isEmpty, let index = peerIndex(key) {
            peers[index].reach = max(peers[index].reach, tracks[id.track].descriptions[id.index].start)
        }
        // What only confirms what is known, and brings nothing that is missing, changes nothing.
        let taken = taken(id)
        if !(old?.isWithin(holding.all) ?? true) || !holding.isWithin(taken) { tracks[id.track].rouse(id.index) }
        return true
    }

    mutating func remove(_ key: PeerKey) {
        var index = 0
        while index < requests.count {
            if requests[index].peer == key { release(at: index) } else { index += 1 }
        }
        forget(key)
    }

    /// Forgets a peer and what it said.
    mutating func forget(_ key: PeerKey) {
        guard let index = peerIndex(key) else { return }
        rouseAll()
        peers.remove(at: index)
        for track in tracks.indices {
            for index in tracks[track].segments.indices where !tracks[track].segments[index].holders.isEmpty {
                tracks[track].segments[index].forget(key)
            }
        }
    }

    /// Takes a request out of the books; its open chunks are missing again.
    mutating func release(at index: Int) {
        let request = requests.remove(at: index)
        let id = request.segment
        tracks[id.track].segments[id.index].requested.subtract(request.open)
        tracks[id.track].rouse(id.index)
        if let peer = peerIndex(request.peer) { peers[peer].outstandingChunks -= request.open.count }
        areOffersFresh = false
    }

    /// Notes a chunk from a peer; true when the request is done or the segment complete.
    mutating func arrive(_ id: RequestID, chunk: Int, byteCount: Int, now: MonotonicInstant) -> Bool {
        guard let index = requestIndex(id), requests[index].open.remove(chunk) else { return false }
        let segment = requests[index].segment
        if let peer = peerIndex(requests[index].peer) {
            let wasReliable = peers[peer].isReliable
            peers[peer].receive(byteCount: byteCount, now: now)
            if !wasReliable { rouseAll() }
        }
        let isDone = requests[index].open.isEmpty
        if isDone { requests.remove(at: index) }
        tracks[segment.track].segments[segment.index].requested.remove(chunk)
        let becameComplete = tracks[segment.track].arrive(segment.index, chunk..<chunk + 1)
        if becameComplete { complete(segment) }
        return becameComplete || isDone
    }

    /// Notes an answer of the CDN.
    mutating func respond(_ id: TransferID, after latency: Duration, now: MonotonicInstant) {
        // The CDN is at work from its first answer on, however many come beside it.
        if !transfers.contains(where: \.hasResponded) { cdnActiveAt = now }
        if let index = transferIndex(id) { transfers[index].hasResponded = true }
        cdnLatency = cdnLatency.map { ($0 * 3 + latency) / 4 } ?? latency
    }

    /// Notes that the CDN sends the whole resource.
    mutating func ignoreRange(_ id: TransferID, from first: Int) {
        guard let index = transferIndex(id) else { return }
        let segment = transfers[index].segment
        transfers[index].chunks = tracks[segment.track].segments[segment.index].geometry?.chunks
        transfers[index].receivedByteCount = first
        recount(segment)
        // Once may be a new version of the resource (RFC 9110, 13.1.5).
        ignoredRanges += 1
        if ignoredRanges == 2 { asksForRanges = false }
    }

    /// Notes bytes from the CDN.
    mutating func receive(_ id: TransferID, byteCount: Int, now: MonotonicInstant) {
        guard let index = transferIndex(id) else { return }
        transfers[index].receivedByteCount += byteCount
        cdnThroughput.add(byteCount: byteCount, over: cdnActiveAt.duration(to: now))
        cdnActiveAt = now
    }

    /// Notes chunks from the CDN; true when the segment is complete.
    mutating func arrive(_ id: TransferID, chunks: Range<Int>, now: MonotonicInstant) -> Bool {
        guard let index = transferIndex(id) else { return false }
        transfers[index].arrived += chunks.count
        let segment = transfers[index].segment
        tracks[segment.track].segments[segment.index].fetching.subtract(ChunkSet(chunks))
        let becameComplete = tracks[segment.track].arrive(segment.index, chunks)
        if becameComplete { complete(segment) }
        return becameComplete
    }

    mutating func finish(_ id: TransferID) {
        guard let index = transferIndex(id) else { return }
        let segment = close(at: index).segment
        tracks[segment.track].segments[segment.index].failures = 0
    }

    /// Takes a transfer out of the books; chunks that it did not bring are missing again.
    @discardableResult
    mutating func close(at index: Int) -> CDNTransfer {
        let transfer = transfers.remove(at: index)
        let id = transfer.segment
        if tracks[id.track].segments[id.index].openTransfer == transfer.id {
            tracks[id.track].segments[id.index].openTransfer = nil
        }
        recount(id)
        urgentHorizon = nil
        return transfer
    }

    /// Works out which chunks of a segment the transfers under way will bring.
    mutating func recount(_ id: SegmentID) {
        var fetching = ChunkSet()
        let count = tracks[id.track].chunkCount(id.index)
        for transfer in transfers where transfer.segment == id {
            fetching.insert(transfer.chunks?.clamped(to: 0..<max(count, transfer.chunks?.upperBound ?? 0)) ?? 0..<count)
        }
        fetching.subtract(tracks[id.track].segments[id.index].present)
        tracks[id.track].segments[id.index].fetching = fetching
        tracks[id.track].rouse(id.index)
    }

    mutating func fail(_ id: TransferID, isFinal: Bool, now: MonotonicInstant) {
        guard let index = transferIndex(id) else { return }
        let transfer = close(at: index)
        let (track, place) = (transfer.segment.track, transfer.segment.index)
        tracks[track].segments[place].fail(isFinal: isFinal, brought: transfer.arrived, now: now, configuration)
    }

    /// Starts again with a segment in another rendition.
    mutating func change(_ id: SegmentID, to description: SegmentDescription) {
        guard has(id) else { return }
        voidRequests(of: id, .switched)
        for index in transfers.indices.reversed() where transfers[index].segment == id {
            emit(.cancelFetch(close(at: index).id, .switched))
        }
        removeClaim(of: id)
        tracks[id.track].change(id.index, to: description)
        noteChunkCount(id)
        urgentHorizon = nil
    }

    /// Takes back what peers were asked for a segment.
    mutating func voidRequests(of id: SegmentID, _ reason: Reason = .complete) {
        var index = 0
        while index < requests.count {
            guard requests[index].segment == id else {
                index += 1
                continue
            }
            let (request, peer) = (requests[index].id, requests[index].peer)
            release(at: index)
            emit(.cancelRequest(request, peer, reason))
        }
    }

    mutating func complete(_ id: SegmentID) {
        guard has(id) else { return }
        tracks[id.track].setComplete(id.index, true)
        tracks[id.track].segments[id.index].holders = []
        removeClaim(of: id)
        voidRequests(of: id)
        let all = 0..<tracks[id.track].chunkCount(id.index)
        var index = 0
        while index < transfers.count {
            // A transfer whose chunks are all there ends by itself; one with more to come is a duplicate.
            guard transfers[index].segment == id, let chunks = transfers[index].chunks,
                transfers[index].arrived < chunks.clamped(to: all).count
            else {
                index += 1
                continue
            }
            emit(.cancelFetch(close(at: index).id, .complete))
        }
    }

    mutating func reject(
        _ id: RequestID, chunks: Range<Int>, refusal: Refusal, retryAfter: Duration, now: MonotonicInstant
    ) {
        guard let index = requestIndex(id) else { return }
        let refused = ChunkSet(chunks)
        let before = requests[index].open.count
        requests[index].open.subtract(refused)
        let request = requests[index]
        if request.open.isEmpty { requests.remove(at: index) }
        let segment = request.segment
        tracks[segment.track].segments[segment.index].requested.subtract(refused)
        tracks[segment.track].rouse(segment.index)
        guard let peer = peerIndex(request.peer) else { return }
        peers[peer].outstandingChunks -= before - request.open.count
        peers[peer].wasTakenBack = false
        peers[peer].refusals += 1
        if !peers[peer].isReliable { rouseAll() }
        // A peer that refuses again and again is asked ever less often, whatever it announces; one that has sent something
        // serves others first for now, and says itself when to ask again.
        let refusals = peers[peer].refusals
        let isProven = peers[peer].isReliable && peers[peer].throughput.bytesPerSecond != nil
        let factor = isProven ? 1 : 1 << min(refusals / 4, 6)
        let rest = min(max(retryAfter, .milliseconds(100)) * factor, .seconds(30))
        switch refusal {
        case .absent:
            if var holding = tracks[segment.track].segments[segment.index].holding(of: request.peer) {
                holding.verified.subtract(refused)
                holding.expected.subtract(refused)
                tracks[segment.track].segments[segment.index].setHolding(holding, of: request.peer)
            }
            if refusals > 3 { peers[peer].restsUntil = now.advanced(by: rest) }
        case .late, .busy:
            peers[peer].restsUntil = now.advanced(by: rest)
        }
    }

    mutating func note(
        claimOf id: SegmentID, claimer: MemberID, draw: Double, waited: Duration, owners: [MemberID],
        now: MonotonicInstant
    ) {
        guard has(id), !owners.isEmpty, front == nil else { return }
        let isOpen = tracks[id.track].segments[id.index].record == .valid && !isComplete(id)
        guard isOpen, !tracks[id.track].segments[id.index].hasClaim else { return }
        if let until = ignoredClaimers[claimer], until > now { return }
        guard Election.isDue(waited: waited, draw: draw, size: swarmSize, span: configuration.electionSpan) else {
            return
        }
        tracks[id.track].rouse(id.index)
        add(
            Claim(
                segment: id, claimer: claimer, front: Front(members: owners),
                expires: now.advanced(by: configuration.claimLife)))
    }
}
