public import CoreModel

/// The asking side.
extension PeerLink {
    /// Whether a request for this many chunks would be taken now.
    public func canRequest(chunkCount: Int) -> Bool {
        let configuration = identity.configuration
        return isEstablished && (1...WireLimits.requestChunkCount).contains(chunkCount)
            && outgoing.count < configuration.requestLimit
            && outstandingChunkCount + chunkCount <= min(Int(peerQueueLimit), configuration.chunkLimit)
    }

    /// Asks for chunks. Each ends in one ``LinkEvent/chunk(_:root:chunk:payload:)`` or
    /// ``LinkEvent/rejected(_:root:chunks:_:retryAfter:)``, or in the request's
    /// ``LinkEvent/requestTimedOut(_:root:chunks:)``.
    ///
    /// - Parameter request: Its number must not be that of a request that hasn't ended.
    /// - Returns: false when ``canRequest(chunkCount:)`` is false; nothing is sent then.
    @discardableResult
    public mutating func request(_ request: ChunkRequest, now: MonotonicInstant) -> Bool {
        guard canRequest(chunkCount: request.chunks.count) else { return false }
        precondition(!outgoing.contains { $0.id == request.id }, "request \(request.id.rawValue) has not ended")
        precondition(request.chunks.upperBound <= WireLimits.chunkCount, "chunks \(request.chunks)")
        var request = request
        request.timeLeft = min(max(request.timeLeft, .zero), WireLimits.timeLeft)
        outgoing.append(OutgoingRequest(request, now: now))
        enqueue(.request(request))
        return true
    }

    /// Takes a request back. Chunks that are on their way still come.
    public mutating func cancel(_ id: ChunkRequestID, now: MonotonicInstant) {
        guard let index = outgoing.firstIndex(where: { $0.id == id }), outgoing[index].phase == .open else { return }
        outgoing[index].phase = .cancelled
        outgoing[index].deadline = now
        enqueue(.cancel(id))
    }

    /// Asks for the signed record of a name.
    ///
    /// - Returns: false when the table is full or the link not established.
    @discardableResult
    public mutating func requestRecord(_ id: RecordRequestID, of name: SegmentName, now: MonotonicInstant) -> Bool {
        guard isEstablished, records.count < identity.configuration.recordLimit else { return false }
        precondition(!records.contains { $0.id == id }, "record request \(id.rawValue) has not ended")
        let deadline = now.advanced(by: identity.configuration.recordTimeout)
        records.append(OutgoingRecordRequest(id: id, deadline: deadline))
        enqueue(.recordRequest(id, name))
        return true
    }

    mutating func receive(_ data: DataFrame) {
        guard let index = outgoing.firstIndex(where: { $0.id == data.id }) else { return violate(.unsolicited) }
        let bit = data.chunk - outgoing[index].first
        guard outgoing[index].outstanding.contains(bit) else { return violate(.unsolicited) }
        let stripeBit = outgoing[index].bit(ofStripe: data.chunk / SegmentGeometry.chunksPerStripe)
        // Leaves that were asked for go right before the first chunk of their stripe: without them it can't be verified.
        if let leaves = announcedLeaves.take() {
            guard leaves.root == outgoing[index].root,
                leaves.stripe == data.chunk / SegmentGeometry.chunksPerStripe,
                outgoing[index].leavesExpected.contains(stripeBit)
            else { return violate(.protocolViolation) }
            outgoing[index].leavesExpected.remove(stripeBit)
        }
        guard !outgoing[index].leavesExpected.contains(stripeBit) else { return violate(.protocolViolation) }
        outgoing[index].outstanding.remove(bit)
        statistics.receivedPayloadByteCount += UInt64(data.payload.count)
        tell(.chunk(data.id, root: outgoing[index].root, chunk: data.chunk, payload: data.payload))
        if outgoing[index].outstanding.isEmpty { outgoing.remove(at: index) }
    }

    mutating func receive(_ leaves: LeavesFrame) {
        // Several requests may wait for the same leaves: the chunk that comes next says whose these are.
        let isExpected = outgoing.contains {
            $0.root == leaves.root && $0.leavesExpected.contains($0.bit(ofStripe: leaves.stripe))
        }
        guard announcedLeaves == nil, isExpected else { return violate(.unsolicited) }
        announcedLeaves = (leaves.root, leaves.stripe)
        tell(.leaves(root: leaves.root, stripe: leaves.stripe, leaves.leaves))
    }

    mutating func receive(_ reject: RejectFrame) {
        guard let index = outgoing.firstIndex(where: { $0.id == reject.id }) else { return violate(.unsolicited) }
        let first = outgoing[index].first
        let bits = ChunkBits(reject.chunks, first: first)
        guard bits.count == reject.chunks.count, outgoing[index].outstanding.contains(all: bits) else {
            return violate(.unsolicited)
        }
        outgoing[index].outstanding.subtract(bits)
        switch outgoing[index].phase {
        case .open:
            tell(
                .rejected(
                    reject.id, root: outgoing[index].root, chunks: reject.chunks, reject.reason,
                    retryAfter: reject.retryAfter))
        case .cancelled, .timedOut: break
        }
        if outgoing[index].outstanding.isEmpty { outgoing.remove(at: index) }
    }

    mutating func receive(record bytes: ArraySlice<UInt8>, id: RecordRequestID) {
        guard let index = records.firstIndex(where: { $0.id == id }) else { return violate(.unsolicited) }
        let isAwaited = records.remove(at: index).deadline != nil
        // An answer that comes too late is still told when it says something: the record may be wanted.
        if isAwaited || !bytes.isEmpty { tell(.record(id, bytes.isEmpty ? nil : bytes)) }
    }

    /// Times out what has waited too long.
    mutating func expireOutgoing(now: MonotonicInstant) {
        for index in outgoing.indices where outgoing[index].deadline <= now {
            switch outgoing[index].phase {
            case .open:
                outgoing[index].phase = .timedOut
                let request = outgoing[index]
                tell(
                    .requestTimedOut(
                        request.id, root: request.root, chunks: request.outstanding.runs(first: request.first)))
                enqueue(.cancel(request.id))
            case .cancelled, .timedOut: break
            }
        }
        let grace = identity.spans.answerGrace
        if outgoing.contains(where: { $0.deadline.advanced(byNanoseconds: grace) <= now }) {
            return violate(.unresponsive)
        }
        for index in records.indices {
            guard let deadline = records[index].deadline, deadline <= now else { continue }
            records[index].deadline = nil
            tell(.record(records[index].id, nil))
        }
    }

    /// When ``expireOutgoing(now:)`` has something to do.
    @inline(__always) var nextOutgoingDeadline: MonotonicInstant {
        var earliest = MonotonicInstant.distantFuture
        // By index: each message that comes in asks this, and a request is large to copy.
        for index in outgoing.indices {
            switch outgoing[index].phase {
            case .open: earliest = min(earliest, outgoing[index].deadline)
            case .cancelled, .timedOut:
                earliest = min(earliest, outgoing[index].deadline.advanced(byNanoseconds: identity.spans.answerGrace))
            }
        }
        for index in records.indices { earliest = min(earliest, records[index].deadline ?? .distantFuture) }
        return earliest
    }
}
