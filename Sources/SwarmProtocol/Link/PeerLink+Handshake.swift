public import CoreModel

/// From the first byte to both hellos. The protocol document has the sequence of each pattern as a diagram.
extension PeerLink {
    /// Lets the candidate in: its certificate holds.
    ///
    /// Call it in answer to ``LinkEvent/candidate(_:certificate:)``; otherwise it does nothing.
    public mutating func admit(now: MonotonicInstant) {
        switch state {
        case .awaitingAdmission(let box):
            // What comes behind the handshake message has waited in `input`.
            let rest = input
            input = []
            open(box.handshake)
            consume(rest.span.bytes, now: now)
        case .awaitingHelloAdmission(let hello):
            let rest = input
            input = []
            enqueue(.hello(makeHello()))
            establish(hello)
            consume(rest.span.bytes, now: now)
        case .awaitingPreamble, .handshaking, .opening, .established, .closing, .closed: break
        }
    }

    /// Turns the candidate away. Before there are keys nothing is answered, after that a bye.
    public mutating func refuse(_ code: ByeCode) { close(.refused(code), saying: code) }

    /// Reads the responder's first two bytes.
    mutating func receive(preamble bytes: [UInt8], ephemeralSeed: Bytes32) {
        guard let preamble = LinkPreamble(bytes) else { return finish(.unsupported) }
        state = .handshaking(
            HandshakeBox(
                Self.makeHandshake(
                    preamble: preamble, role: .responder, peer: nil, identity: identity, seed: ephemeralSeed)))
    }

    /// Reads a handshake message.
    mutating func receive(handshakeMessage message: ArraySlice<UInt8>, in box: HandshakeBox) {
        var handshake = box.handshake
        do {
            let payload = try handshake.readMessage(message)
            switch (handshake.pattern, role, handshake.isFinished) {
            case (.xx, .responder, false):
                // Message 1: nothing is known of the other side yet, and nothing is said of this one that could be read
                // without the swarm's name.
                guard payload.isEmpty else { return finish(.handshake(.length(message.count))) }
                appendHandshake(try handshake.writeMessage())
                state = .handshaking(HandshakeBox(handshake))
            case (.xx, .initiator, _):
                guard payload.isEmpty else { return finish(.handshake(.length(message.count))) }
                remoteKey = handshake.remoteKey
                guard remoteKey != identity.peerID else { return finish(.refused(.myself)) }
                appendHandshake(try handshake.writeMessage(payload: identity.certificate))
                transport = handshake.transport()
                state = .opening(isCertificateAwaited: true)
            case (.xx, .responder, true), (.ik, _, _):
                remoteKey = handshake.remoteKey
                guard let remoteKey, remoteKey != identity.peerID else { return finish(.refused(.myself)) }
                guard (1...WireLimits.certificateByteCount).contains(payload.count) else {
                    return finish(.refused(.certificate))
                }
                state = .awaitingAdmission(HandshakeBox(handshake))
                tell(.candidate(remoteKey, certificate: payload))
            }
        } catch {
            finish(.handshake(error))
        }
    }

    /// Reads the other side's hello.
    mutating func receive(hello: HelloFrame, isCertificateAwaited: Bool) {
        guard min(hello.highestVersion, LinkVersion.highest) == LinkVersion.highest else {
            // Version 1 is the only one: whoever does not speak it could not have opened the link.
            return close(.local(.downgrade), saying: .downgrade)
        }
        if isCertificateAwaited {
            guard let remoteKey, !hello.certificate.isEmpty else {
                return close(.refused(.certificate), saying: .certificate)
            }
            state = .awaitingHelloAdmission(hello)
            tell(.candidate(remoteKey, certificate: Array(hello.certificate)))
        } else {
            guard hello.certificate.isEmpty else { return violate(.protocolViolation) }
            establish(hello)
        }
    }

    mutating func appendHandshake(_ message: [UInt8]) {
        rawOutput += UInt16(message.count).bigEndianBytes
        rawOutput += message
    }

    /// Takes the keys and says hello, once the candidate of a handshake message is let in.
    private mutating func open(_ finished: NoiseHandshake) {
        var handshake = finished
        if handshake.isWriting {
            do {
                appendHandshake(try handshake.writeMessage(payload: identity.certificate))
            } catch {
                return finish(.handshake(error))
            }
        }
        transport = handshake.transport()
        state = .opening(isCertificateAwaited: false)
        let isXXResponder = handshake.pattern == .xx
        enqueue(.hello(makeHello(certificate: isXXResponder ? identity.certificate[...] : [])))
    }

    private mutating func establish(_ hello: HelloFrame) {
        guard let remoteKey else { preconditionFailure("a link without a remote key in state \(state)") }
        state = .established
        peerQueueLimit = hello.queueLimit
        tell(.established(remoteKey, hello))
    }

    private func makeHello(certificate: ArraySlice<UInt8> = []) -> HelloFrame {
        HelloFrame(
            lowestVersion: LinkVersion.lowest, highestVersion: LinkVersion.highest,
            flags: identity.uploads ? .uploads : [], listenPort: identity.listenPort,
            queueLimit: UInt16(clamping: identity.configuration.chunkLimit), certificate: certificate)
    }
}
