internal import CoreModel

/// What inputs change.
extension Scheduler {
    mutating func learnSize(_ id: SegmentID, _ byteCount: Int) {
        update(id) { segment in
            if segment.byteCount == nil { segment.byteCount = byteCount }
        }
        settle(id)
    }

    /// Completes a segment whose chunks were there before its size was known.
    mutating func settle(_ id: SegmentID) {
        guard has(id) else { return }
        let becameComplete = tracks[id.track][id.index].arrive(0..<0)
        if becameComplete { complete(id) }
    }

    /// Notes what a peer holds; true when that can change a decision.
    mutating func note(_ holding: Holding, of id: SegmentID, by key: PeerKey) -> Bool {
        guard let index = peerIndex(key), has(id) else { return false }
        peers[index].holdings[id] = holding
        if !holding.verified.isEmpty { failedOwners[peers[index].member] = nil }
        return !tracks[id.track][id.index].isComplete
    }

    mutating func remove(_ key: PeerKey) {
        for (id, request) in requests where request.peer == key { release(id, request) }
        peers.removeAll { $0.key == key }
    }

    /// Takes a request out of the books; its open chunks are missing again.
    mutating func release(_ id: RequestID, _ request: PeerRequest) {
        requests[id] = nil
        update(request.segment) { $0.requested.subtract(request.open) }
        let count = request.open.count
        updatePeer(request.peer) { $0.outstandingChunks -= count }
    }

    /// Notes a chunk from a peer; true when the request is done or the segment complete.
    mutating func arrive(_ id: RequestID, chunk: Int, byteCount: Int, now: MonotonicInstant) -> Bool {
        guard var request = requests[id], request.open.remove(chunk) else { return false }
        let peer = request.peer
        updatePeer(peer) { peer in
            peer.outstandingChunks -= 1
            peer.throughput.add(byteCount: byteCount, over: peer.busySince.duration(to: now))
            peer.busySince = now
            peer.lastProgress = now
            peer.stalls = 0
            peer.refusals = 0
            peer.trust = min(1, peer.trust * 1.05)
        }
        requests[id] = request.open.isEmpty ? nil : request
        var becameComplete = false
        update(request.segment) { segment in
            segment.requested.remove(chunk)
            becameComplete = segment.arrive(chunk..<chunk + 1)
        }
        if becameComplete { complete(request.segment) }
        return becameComplete || request.open.isEmpty
    }

    /// Notes bytes from the CDN.
    mutating func receive(_ id: TransferID, byteCount: Int, now: MonotonicInstant) {
        guard transfers[id] != nil else { return }
        transfers[id]?.receivedByteCount += byteCount
        cdnThroughput.add(byteCount: byteCount, over: cdnActiveAt.duration(to: now))
        cdnActiveAt = now
    }

    /// Notes chunks from the CDN; true when the segment is complete.
    mutating func arrive(_ id: TransferID, chunks: Range<Int>, now: MonotonicInstant) -> Bool {
        guard let transfer = transfers[id] else { return false }
        transfers[id]?.arrived += chunks.count
        var becameComplete = false
        update(transfer.segment) { segment in
            segment.fetching.subtract(ChunkSet(chunks))
            becameComplete = segment.arrive(chunks)
        }
        if becameComplete { complete(transfer.segment) }
        return becameComplete
    }

    mutating func finish(_ id: TransferID) {
        guard let transfer = transfers[id] else { return }
        close(id, transfer)
        update(transfer.segment) { $0.failures = 0 }
    }

    /// Takes a transfer out of the books; chunks that it did not bring are missing again.
    mutating func close(_ id: TransferID, _ transfer: CDNTransfer) {
        transfers[id] = nil
        update(transfer.segment) { segment in
            if segment.openTransfer == id { segment.openTransfer = nil }
        }
        recount(transfer.segment)
    }

    /// Works out which chunks of a segment the transfers under way will bring.
    mutating func recount(_ id: SegmentID) {
        guard has(id) else { return }
        var fetching = ChunkSet()
        let count = tracks[id.track][id.index].chunkCount
        for transfer in transfers.values where transfer.segment == id {
            fetching.insert(transfer.chunks?.clamped(to: 0..<max(count, transfer.chunks?.upperBound ?? 0)) ?? 0..<count)
        }
        fetching.subtract(tracks[id.track][id.index].present)
        tracks[id.track][id.index].fetching = fetching
    }

    mutating func fail(_ id: TransferID, isFinal: Bool, now: MonotonicInstant) {
        guard let transfer = transfers[id] else { return }
        close(id, transfer)
        let limit = configuration.maximumSegmentFailures
        update(transfer.segment) { segment in
            // A transfer that broke off and brought something has made progress.
            segment.failures = transfer.arrived > 0 ? 1 : segment.failures + 1
            if isFinal || segment.failures >= limit { segment.isGone = true }
            let backOff = Duration.milliseconds(250) * (1 << min(segment.failures, 5))
            segment.retryAt = now.advanced(by: backOff)
        }
    }

    /// Takes back what peers were asked for a segment.
    mutating func voidRequests(of id: SegmentID) {
        for request in requests.keys.sorted() {
            guard let open = requests[request], open.segment == id else { continue }
            release(request, open)
            emit(.cancelRequest(request, open.peer, .complete))
        }
    }

    mutating func complete(_ id: SegmentID) {
        update(id) { segment in
            segment.isComplete = true
            segment.claim = nil
        }
        voidRequests(of: id)
        let all = 0..<(has(id) ? tracks[id.track][id.index].chunkCount : 0)
        for transfer in transfers.keys.sorted() {
            guard let running = transfers[transfer], running.segment == id else { continue }
            // A transfer whose chunks are all there ends by itself; one with more to come is a duplicate.
            guard let chunks = running.chunks, running.arrived < chunks.clamped(to: all).count else { continue }
            close(transfer, running)
            emit(.cancelFetch(transfer, .complete))
        }
    }

    mutating func reject(
        _ id: RequestID, chunks: Range<Int>, refusal: Refusal, retryAfter: Duration, now: MonotonicInstant
    ) {
        guard var request = requests[id] else { return }
        let refused = ChunkSet(chunks)
        let before = request.open.count
        request.open.subtract(refused)
        let count = before - request.open.count
        requests[id] = request.open.isEmpty ? nil : request
        update(request.segment) { $0.requested.subtract(refused) }
        updatePeer(request.peer) { peer in
            peer.outstandingChunks -= count
            peer.refusals += 1
            // A peer that refuses again and again is asked ever less often, whatever it announces.
            let rest = max(retryAfter, .milliseconds(100)) * (1 << min(peer.refusals / 4, 6))
            switch refusal {
            case .absent:
                var holding = peer.holdings[request.segment] ?? Holding()
                holding.verified.subtract(refused)
                holding.expected.subtract(refused)
                peer.holdings[request.segment] = holding
                if peer.refusals > 3 { peer.restsUntil = now.advanced(by: min(rest, .seconds(30))) }
            case .late, .busy:
                peer.restsUntil = now.advanced(by: min(rest, .seconds(30)))
            }
        }
    }

    mutating func note(
        claimOf id: SegmentID, claimer: MemberID, draw: Double, waited: Duration, owners: [MemberID],
        now: MonotonicInstant
    ) {
        guard has(id), !owners.isEmpty, front == nil else { return }
        let segment = tracks[id.track][id.index]
        guard segment.shareKey != nil, !segment.isComplete, segment.claim == nil else { return }
        if let until = ignoredClaimers[claimer], until > now { return }
        guard Election.isDue(waited: waited, draw: draw, size: swarmSize, span: configuration.electionSpan) else {
            return
        }
        tracks[id.track][id.index].claim = SegmentState.Claim(
            claimer: claimer, front: Front(members: owners), expires: now.advanced(by: configuration.claimLife))
    }
}
