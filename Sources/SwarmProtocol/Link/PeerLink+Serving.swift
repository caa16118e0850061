public import CoreModel

/// The serving side.
extension PeerLink {
    /// Takes note that the availability of chunks changed: those that requests wait for are asked for again.
    ///
    /// - Returns: Whether a request waited for one of them.
    @discardableResult
    public mutating func chunksAvailable(root: Digest, chunks: Range<Int>) -> Bool {
        var isWoken = false
        for index in incoming.indices where incoming[index].root == root {
            let woken = incoming[index].standing.intersection(ChunkBits(chunks, first: incoming[index].first))
            incoming[index].standing.subtract(woken)
            incoming[index].loading.subtract(woken)
            incoming[index].fresh.formUnion(woken)
            if !woken.isEmpty { isWoken = true }
        }
        return isWoken
    }

    /// Rejects every chunk that is queued: the upload cap is used up, say.
    public mutating func rejectQueued(_ reason: RejectReason, retryAfter: Duration) {
        for request in incoming { reject(request.outstanding, of: request, reason, retryAfter: retryAfter) }
        incoming.removeAll()
    }

    /// Answers ``LinkEvent/recordRequested(_:_:)``; empty bytes say that there is none here.
    ///
    /// - Precondition: the bytes fit into a frame.
    public mutating func answerRecord(_ id: RecordRequestID, with bytes: ArraySlice<UInt8>) {
        send(.record(id, bytes))
    }

    mutating func receive(_ request: ChunkRequest, now: MonotonicInstant) {
        guard !incoming.contains(where: { $0.id == request.id }) else { return violate(.protocolViolation) }
        let configuration = identity.configuration
        let queued = incoming.reduce(0) { $0 + $1.outstanding.count }
        let refusal: (RejectReason, Duration)?
        if !identity.uploads {
            refusal = (.capped, WireLimits.retryAfter)
        } else if isChoking {
            refusal = (.choked, max(.zero, now.duration(to: chokeUntil)))
        } else if incoming.count >= configuration.requestLimit
            || queued + request.chunks.count > configuration.chunkLimit
        {
            refusal = (.busy, .seconds(1))
        } else {
            refusal = nil
        }
        guard let (reason, retryAfter) = refusal else {
            incoming.append(IncomingRequest(request, now: now))
            return
        }
        guard spendGossip(1, now: now) else { return }
        enqueue(.reject(RejectFrame(id: request.id, chunks: request.chunks, reason: reason, retryAfter: retryAfter)))
    }

    mutating func receive(cancel id: ChunkRequestID, now: MonotonicInstant) {
        // One that has ended crossed the cancel on the way, which costs a point so that it can't be a flood.
        guard let index = incoming.firstIndex(where: { $0.id == id }) else {
            _ = spendGossip(1, now: now)
            return
        }
        let request = incoming.remove(at: index)
        guard payForNothing(request, now: now) else { return }
        reject(request.outstanding, of: request, .cancelled, retryAfter: .zero)
    }

    /// Rejects what can't be sent in time any more.
    mutating func expireIncoming(now: MonotonicInstant) {
        guard incoming.contains(where: { $0.deadline <= now }) else { return }
        for request in incoming where request.deadline <= now {
            guard payForNothing(request, now: now) else { return }
            reject(request.outstanding, of: request, .late, retryAfter: .zero)
        }
        incoming.removeAll { $0.deadline <= now }
    }

    /// Makes the end of a request whose chunks are being brought back for nothing cost a point, so that it can't be a
    /// flood.
    private mutating func payForNothing(_ request: IncomingRequest, now: MonotonicInstant) -> Bool {
        request.loading.isEmpty || spendGossip(1, now: now)
    }

    /// Whether the other side waits for any of these chunks.
    func awaits(root: Digest, chunks: Range<Int>) -> Bool {
        incoming.contains { request in
            request.root == root
                && !request.outstanding.intersection(ChunkBits(chunks, first: request.first)).isEmpty
        }
    }

    /// Rejects what has waited so long behind the requests of others that it is better asked of somebody else.
    mutating func rejectNeglected(now: MonotonicInstant) {
        guard patienceEnd() <= now else { return }
        for index in incoming.indices where incoming[index].isNeglected(now) {
            reject(incoming[index].ready, of: incoming[index], .busy, retryAfter: .seconds(1))
            incoming[index].ready = .none
        }
        incoming.removeAll { $0.outstanding.isEmpty }
    }

    /// When ``rejectNeglected(now:)`` has something to do.
    ///
    /// `mutating` only so that the link isn't copied for it.
    mutating func patienceEnd() -> MonotonicInstant {
        var earliest = MonotonicInstant.distantFuture
        for index in incoming.indices where !incoming[index].ready.isEmpty {
            earliest = min(earliest, incoming[index].patienceEnds)
        }
        return earliest
    }

    /// Asks the source about fresh chunks, and rejects at once what it can't give.
    mutating func classify(source: some ChunkSource) {
        if hasStoredChunks { releaseStored() }
        var hasEnded = false
        for index in incoming.indices where !incoming[index].fresh.isEmpty {
            if !incoming[index].need.knowsStart {
                incoming[index].note(start: source.start(ofSegment: incoming[index].root))
            }
            let request = incoming[index]
            var absent = ChunkBits.none
            var fresh = request.fresh
            while let bit = fresh.lowest {
                fresh.remove(bit)
                switch source.availability(ofChunk: request.first + bit, root: request.root) {
                case .available, .stored: incoming[index].ready.insert(bit)
                case .expected: incoming[index].standing.insert(bit)
                case .unavailable: absent.insert(bit)
                }
            }
            incoming[index].fresh = .none
            reject(absent, of: request, .absent, retryAfter: .zero)
            if incoming[index].outstanding.isEmpty { hasEnded = true }
        }
        if hasEnded { incoming.removeAll { $0.outstanding.isEmpty } }
    }

    /// The next chunk as bytes to transmit, with its stripe's leaves before it where they are owed; `nil` when there is
    /// none.
    ///
    /// - Parameter companions: Frames as bytes that go out in front of it.
    mutating func nextData(after companions: [UInt8], source: some ChunkSource) -> [UInt8]? {
        while let index = mostUrgent() {
            let request = incoming[index]
            guard let bit = request.ready.lowest else { return nil }
            let chunk = request.first + bit
            incoming[index].ready.remove(bit)
            switch source.availability(ofChunk: chunk, root: request.root) {
            case .available(let payload):
                guard let leaves = owedLeaves(for: chunk, at: index, source: source) else {
                    end(bit, of: request, .absent)
                    continue
                }
                if incoming[index].outstanding.isEmpty { incoming.remove(at: index) }
                let first = companions.isEmpty ? leaves : companions + leaves
                return seal(DataFrame(id: request.id, chunk: chunk, payload: payload), after: first)
            case .stored: bringBack(bit, of: index, source: source)
            case .expected: incoming[index].standing.insert(bit)
            case .unavailable:
                // It was there a moment ago and has been evicted.
                end(bit, of: request, .absent)
            }
        }
        return nil
    }

    /// Has a ready chunk brought back, and those after it in its stripe; lets it wait while others are.
    private mutating func bringBack(_ bit: Int, of index: Int, source: some ChunkSource) {
        let request = incoming[index]
        var ready = request.ready
        ready.insert(bit)
        guard !isBringingBack else {
            incoming[index].ready = .none
            incoming[index].stored.formUnion(ready)
            hasStoredChunks = true
            return
        }
        let chunk = request.first + bit
        let stripeEnd = (chunk / SegmentGeometry.chunksPerStripe + 1) * SegmentGeometry.chunksPerStripe
        let stripe = ready.intersection(ChunkBits(chunk..<stripeEnd, first: request.first))
        let run = stripe.runs(first: request.first)[0]
        let bits = ChunkBits(run, first: request.first)
        incoming[index].ready.subtract(bits)
        if source.bringBack(run, root: request.root) {
            incoming[index].standing.formUnion(bits)
            incoming[index].loading = bits
        } else {
            reject(bits, of: request, .busy, retryAfter: .seconds(1))
            incoming.removeAll { $0.outstanding.isEmpty }
        }
    }

    /// Whether chunks are being brought back for the other side.
    private var isBringingBack: Bool { incoming.contains { !$0.loading.isEmpty } }

    /// Lets chunks that waited for others be ready again once those are there.
    private mutating func releaseStored() {
        guard !isBringingBack else { return }
        hasStoredChunks = false
        for index in incoming.indices {
            incoming[index].ready.formUnion(incoming[index].stored)
            incoming[index].stored = .none
        }
    }

    /// When ``expireIncoming(now:)`` has something to do.
    @inline(__always) var nextIncomingDeadline: MonotonicInstant {
        var earliest = MonotonicInstant.distantFuture
        for index in incoming.indices { earliest = min(earliest, incoming[index].deadline) }
        return earliest
    }

    /// The request with ready chunks whose time ends first, the older one of two.
    func mostUrgent() -> Int? {
        var best: Int?
        for index in incoming.indices where !incoming[index].ready.isEmpty {
            if let other = best, incoming[other].deadline <= incoming[index].deadline { continue }
            best = index
        }
        return best
    }

    /// The leaves frame that goes before a chunk, as bytes, empty when none is owed; `nil` when they are not known.
    private mutating func owedLeaves(for chunk: Int, at index: Int, source: some ChunkSource) -> [UInt8]? {
        let bit = incoming[index].stripeBit(ofChunk: chunk)
        guard incoming[index].leavesOwed.contains(bit) else { return [] }
        let stripe = chunk / SegmentGeometry.chunksPerStripe
        let root = incoming[index].root
        guard let leaves = source.leaves(ofStripe: stripe, root: root) else { return nil }
        incoming[index].leavesOwed.remove(bit)
        return Frame.leaves(LeavesFrame(root: root, stripe: stripe, leaves: leaves)).encoded
    }

    /// Rejects one chunk of a request and forgets the request with its last.
    private mutating func end(_ bit: Int, of request: IncomingRequest, _ reason: RejectReason) {
        reject(ChunkBits(rawValue: 1 << UInt64(bit)), of: request, reason, retryAfter: .zero)
        incoming.removeAll { $0.outstanding.isEmpty }
    }

    private mutating func reject(
        _ chunks: ChunkBits, of request: IncomingRequest, _ reason: RejectReason, retryAfter: Duration
    ) {
        for run in chunks.runs(first: request.first) {
            enqueue(.reject(RejectFrame(id: request.id, chunks: run, reason: reason, retryAfter: retryAfter)))
        }
    }

    /// Encrypts a data frame straight from the store's bytes, as the last of a message.
    ///
    /// - Parameter frames: The frames before it, as bytes.
    private mutating func seal(_ data: DataFrame, after frames: [UInt8]) -> [UInt8] {
        let bodyByteCount = 6 + data.payload.count
        let id = data.id.rawValue
        let header: InlineArray<9, UInt8> = [
            FrameType.data.rawValue, UInt8(truncatingIfNeeded: bodyByteCount >> 8),
            UInt8(truncatingIfNeeded: bodyByteCount), UInt8(truncatingIfNeeded: id >> 24),
            UInt8(truncatingIfNeeded: id >> 16), UInt8(truncatingIfNeeded: id >> 8), UInt8(truncatingIfNeeded: id),
            UInt8(truncatingIfNeeded: data.chunk >> 8), UInt8(truncatingIfNeeded: data.chunk),
        ]
        var output: [UInt8] = []
        output.reserveCapacity(WireLimits.dataOverhead + frames.count + data.payload.count)
        if frames.isEmpty {
            appendMessage(header.span.bytes, data.payload.span.bytes, to: &output)
        } else {
            var start = frames
            for place in header.indices { start.append(header[place]) }
            appendMessage(start.span.bytes, data.payload.span.bytes, to: &output)
        }
        statistics.sentPayloadByteCount += UInt64(data.payload.count)
        return output
    }
}
