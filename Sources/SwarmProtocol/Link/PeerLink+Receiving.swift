public import CoreModel

/// From bytes to messages to frames.
extension PeerLink {
    /// Takes bytes from the connection, in any portions.
    ///
    /// A message that lies whole in `bytes` is decrypted from there; only one that is cut is collected first.
    public mutating func receive(_ bytes: RawSpan, now: MonotonicInstant) {
        guard !isOver else { return }
        lastReceived = now
        statistics.receivedByteCount += UInt64(bytes.byteCount)
        consume(bytes, now: now)
    }

    /// Works off bytes that have been counted.
    mutating func consume(_ bytes: RawSpan, now: MonotonicInstant) {
        var offset = 0
        while offset < bytes.byteCount {
            let rest = bytes.extracting(offset..<bytes.byteCount)
            switch state {
            case .awaitingPreamble(let seed):
                let missing = LinkPreamble.byteCount - input.count
                input.append(rest, atMost: missing)
                offset += min(missing, rest.byteCount)
                guard input.count == LinkPreamble.byteCount else { return }
                let preamble = input
                input = []
                receive(preamble: preamble, ephemeralSeed: seed)
            case .handshaking, .opening, .established: offset += receiveMessage(rest, now: now)
            case .awaitingAdmission, .awaitingHelloAdmission:
                // An honest peer has at most a hello on the way here.
                guard input.count + rest.byteCount <= WireLimits.handshakeMessageByteCount * 2 else {
                    return finish(.local(.flood))
                }
                input.append(rest)
                return
            case .closing, .closed: return
            }
        }
    }

    /// Takes one message, or the part of it that is there.
    ///
    /// - Returns: The bytes used up.
    private mutating func receiveMessage(_ bytes: RawSpan, now: MonotonicInstant) -> Int {
        if input.isEmpty, bytes.byteCount >= 2 {
            let count = 2 + bytes.bigEndian16
            guard isAcceptable(messageByteCount: count - 2) else { return bytes.byteCount }
            if bytes.byteCount >= count {
                process(bytes.extracting(2..<count), now: now)
                return count
            }
            input.reserveCapacity(count)
            input.append(bytes)
            return bytes.byteCount
        }
        var used = 0
        if input.count < 2 {
            used = min(2 - input.count, bytes.byteCount)
            input.append(bytes, atMost: used)
            guard input.count == 2 else { return used }
        }
        let count = 2 + input.span.bytes.bigEndian16
        guard isAcceptable(messageByteCount: count - 2) else { return bytes.byteCount }
        let missing = min(count - input.count, bytes.byteCount - used)
        input.append(bytes.extracting(used..<used + missing))
        used += missing
        guard input.count == count else { return used }
        // Moved out, so that the message can be read while the link changes; its room comes back for the next one.
        var message = input
        input = []
        process(message.span.bytes.extracting(2..<count), now: now)
        if isEstablished, input.isEmpty {
            message.removeAll(keepingCapacity: true)
            input = message
        }
        return used
    }

    /// Checks a message's length before its bytes are collected.
    private mutating func isAcceptable(messageByteCount count: Int) -> Bool {
        switch state {
        case .handshaking:
            if (32...WireLimits.handshakeMessageByteCount).contains(count) { return true }
            finish(.handshake(.length(count)))
        case .opening, .established:
            // The smallest message holds a frame without a body.
            if count >= NoiseTransport.tagByteCount + WireLimits.frameHeaderByteCount { return true }
            violate(.malformed)
        case .awaitingPreamble, .awaitingAdmission, .awaitingHelloAdmission, .closing, .closed: break
        }
        return false
    }

    private mutating func process(_ message: RawSpan, now: MonotonicInstant) {
        switch state {
        case .handshaking(let box):
            var bytes: [UInt8] = []
            bytes.append(message)
            receive(handshakeMessage: bytes[...], in: box)
        case .opening, .established: decrypt(message, now: now)
        case .awaitingPreamble, .awaitingAdmission, .awaitingHelloAdmission, .closing, .closed:
            preconditionFailure("a message in state \(state)")
        }
    }

    private mutating func decrypt(_ message: RawSpan, now: MonotonicInstant) {
        var plaintext: [UInt8] = []
        plaintext.reserveCapacity(message.byteCount)
        guard transport?.open(message, appendingTo: &plaintext, suite: identity.suite) == true else {
            return finish(.notAuthentic)
        }
        var reader = WireReader(plaintext)
        do {
            repeat {
                let frame = try Frame(reading: &reader)
                if case .data = frame {
                    // A data frame is the last of its message.
                    guard reader.remaining == 0 else { return violate(.protocolViolation) }
                } else if reader.remaining == 0 {
                    statistics.receivedControlCount += 1
                }
                receive(frame, rest: reader.remaining, now: now)
            } while reader.remaining > 0 && !isOver
        } catch {
            violate(.malformed)
        }
    }

    private mutating func receive(_ frame: Frame, rest: Int, now: MonotonicInstant) {
        switch (state, frame) {
        case (.opening, .bye(let code)), (.established, .bye(let code)): finish(.remote(code))
        case (.opening(let isCertificateAwaited), .hello(let hello)):
            // While the certificate is looked at nothing more may come, not even in the same message.
            guard rest == 0 || !isCertificateAwaited else { return violate(.protocolViolation) }
            receive(hello: hello, isCertificateAwaited: isCertificateAwaited)
        case (.established, _): receive(established: frame, now: now)
        case (.opening, _), (.awaitingPreamble, _), (.handshaking, _), (.awaitingAdmission, _),
            (.awaitingHelloAdmission, _), (.closing, _), (.closed, _):
            violate(.protocolViolation)
        }
    }

    private mutating func receive(established frame: Frame, now: MonotonicInstant) {
        switch frame {
        case .hello, .bye: violate(.protocolViolation)
        case .data(let data): receive(data)
        case .leaves(let leaves): receive(leaves)
        case .reject(let reject): receive(reject)
        case .request(let request): receive(request, now: now)
        case .cancel(let id): receive(cancel: id, now: now)
        case .record(let id, let bytes): receive(record: bytes, id: id)
        case .recordRequest(let id, let name):
            guard spendGossip(4, now: now) else { return }
            tell(.recordRequested(id, name))
        case .have(let entries):
            guard spendGossip(4, now: now) else { return }
            tell(.have(entries))
        case .claim(let claim):
            guard spendGossip(1, now: now) else { return }
            tell(.claim(claim))
        case .choke(let retryAfter):
            guard spendGossip(1, now: now) else { return }
            isChoked = true
            tell(.choked(retryAfter: retryAfter))
        case .unchoke:
            guard spendGossip(1, now: now) else { return }
            isChoked = false
            tell(.unchoked)
        case .peers(let peers):
            guard spendGossip(20, now: now) else { return }
            tell(.peers(peers))
        case .ping(let token):
            guard spendGossip(1, now: now) else { return }
            enqueue(.pong(token))
        case .pong(let token):
            guard let sent = pingSent, token == pingToken else { return violate(.unsolicited) }
            pingSent = nil
            tell(.roundTrip(sent.duration(to: now)))
        }
    }

    /// Drains the gossip bucket; false when it is empty and the link was ended.
    mutating func spendGossip(_ points: Double, now: MonotonicInstant) -> Bool {
        let configuration = identity.configuration
        let level = gossip.level(rate: configuration.gossipRate, capacity: configuration.gossipBurst, now: now)
        gossip.take(points)
        if level >= points { return true }
        violate(.flood)
        return false
    }
}
