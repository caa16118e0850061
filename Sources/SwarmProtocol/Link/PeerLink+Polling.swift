public import CoreModel

/// What comes out.
extension PeerLink {
    /// Bytes of control frames that share a message: more would let a data frame of another link wait.
    private static let controlBatchByteCount = 16_384

    /// The next thing to do.
    ///
    /// Events come first, then control frames, then at most one data frame while `writable` is above nothing.
    ///
    /// - Parameters:
    ///   - now: Not earlier than in the last call.
    ///   - writable: Bytes of data that may be handed to the transport now. The last data frame may exceed it.
    ///   - companions: Frames as bytes that go out in front of a chunk, in its message, if a chunk goes out now.
    ///   - source: Where chunks for the other side come from.
    public mutating func poll(
        now: MonotonicInstant, writable: Int, companions: [UInt8] = [], source: some ChunkSource
    ) -> LinkOutput {
        expire(now: now)
        if isEstablished { classify(source: source) }
        if let event = takeEvent() { return .event(event) }
        if let bytes = takeControl() { return transmit(bytes) }
        if case .closing(let end) = state {
            state = .closed
            return .event(.closed(end))
        }
        if isEstablished, writable > 0, let bytes = nextData(after: companions, source: source) {
            return transmit(bytes)
        }
        // A chunk that was evicted meanwhile has left a reject.
        if let bytes = takeControl() { return transmit(bytes) }
        releaseRequestStorage()
        return .wait(until: nextDeadline())
    }

    /// Appends a transport message: length and ciphertext.
    mutating func appendMessage(_ first: RawSpan, _ second: RawSpan, to output: inout [UInt8]) {
        let count = first.byteCount + second.byteCount + NoiseTransport.tagByteCount
        output.append(UInt8(truncatingIfNeeded: count >> 8))
        output.append(UInt8(truncatingIfNeeded: count))
        // Opened here and not in the loop, so that the keys are changed in place.
        transport?.seal(first, second, appendingTo: &output, suite: identity.suite)
    }

    private mutating func transmit(_ bytes: [UInt8]) -> LinkOutput {
        statistics.sentByteCount += UInt64(bytes.count)
        return .transmit(bytes)
    }

    private mutating func takeEvent() -> LinkEvent? {
        guard nextEvent < events.count else { return nil }
        let event = events[nextEvent]
        nextEvent += 1
        if nextEvent == events.count {
            // Not kept: the events hold payloads.
            events = []
            nextEvent = 0
        }
        return event
    }

    /// Handshake bytes, or control frames sealed into one message.
    private mutating func takeControl() -> [UInt8]? {
        if firstControl.isEmpty, rawOutput.isEmpty { return nil }
        var output: [UInt8] = []
        swap(&output, &rawOutput)
        guard !firstControl.isEmpty else { return output.isEmpty ? nil : output }
        let nothing: [UInt8] = []
        var batch: [UInt8] = []
        swap(&batch, &firstControl)
        var count = 0
        while count < controlQueue.count, batch.count + controlQueue[count].count <= Self.controlBatchByteCount {
            batch += controlQueue[count]
            count += 1
        }
        output.reserveCapacity(output.count + 2 + batch.count + NoiseTransport.tagByteCount)
        appendMessage(batch.span.bytes, nothing.span.bytes, to: &output)
        controlByteCount -= batch.count
        statistics.sentControlCount += 1
        if count < controlQueue.count {
            firstControl = controlQueue[count]
            controlQueue.removeFirst(count + 1)
        } else if count > 0 {
            controlQueue = []
        }
        return output
    }

    private mutating func expire(now: MonotonicInstant) {
        switch state {
        case .awaitingPreamble, .handshaking, .awaitingAdmission, .awaitingHelloAdmission, .opening:
            if now >= handshakeDeadline { finish(.handshakeTimeout) }
        case .established:
            expireOutgoing(now: now)
            expireIncoming(now: now)
            if now >= lastReceived.advanced(byNanoseconds: identity.spans.silence) {
                violate(.silent)
            } else if now >= lastReceived.advanced(byNanoseconds: pingAfter) {
                releaseStorage()
                probe(now: now)
            }
        case .closing, .closed: break
        }
    }

    private var pingAfter: Int64 {
        role == .initiator ? identity.spans.initiatorPing : identity.spans.responderPing
    }

    /// `mutating` only so that the link isn't copied for it.
    private mutating func nextDeadline() -> MonotonicInstant? {
        switch state {
        case .awaitingPreamble, .handshaking, .awaitingAdmission, .awaitingHelloAdmission, .opening:
            return handshakeDeadline
        case .established:
            let silence = pingSent == nil ? pingAfter : identity.spans.silence
            return min(nextOutgoingDeadline, nextIncomingDeadline, lastReceived.advanced(byNanoseconds: silence))
        case .closing, .closed: return nil
        }
    }
}
