import CoreModel
import EventLoop
import Integrity
import SwarmProtocol

/// What spreads from peer to peer.
extension PeerManager {
    /// Peers that are named in one frame.
    private static let exchangeCount = 8
    /// The shortest time between two frames that are listened to.
    private static let exchangePause: Duration = .seconds(60)

    func received(_ event: LinkEvent, from connection: PeerConnection) {
        guard let peer = connection.link.peer, links[peer] === connection else { return }
        switch event {
        case .claim(let frame): received(frame, from: peer)
        case .peers(let entries): received(entries, from: connection)
        case .have, .leaves, .chunk, .rejected, .requestTimedOut, .choked, .unchoked, .record, .recordRequested,
            .roundTrip:
            delegate?.peer(peer, did: event)
        case .candidate, .established, .closed: break
        }
    }

    /// Sends the changes of what this side holds, when it is time.
    func flushHoldings() {
        let entries = announcer.poll(now: loop.now)
        if !entries.isEmpty {
            let frame = Frame.have(entries).encoded
            for connection in connections { connection.send(frame) }
        }
        armTick()
    }

    /// Tells each link whose time has come of a few other peers.
    func exchangePeers(now: MonotonicInstant) {
        for connection in connections where connection.nextExchange <= now {
            let jitter = Double.random(in: 0.8...1.2, using: &generator)
            connection.nextExchange = now.advanced(by: configuration.exchangeInterval * jitter)
            let entries = peersToName(to: connection)
            if !entries.isEmpty { connection.send(Frame.peers(entries).encoded) }
        }
    }

    private func peersToName(to connection: PeerConnection) -> [PeerEntry] {
        let wallClock = wallClock()
        let others = connections.filter { other in
            guard other !== connection, other.link.isEstablished, let certificate = other.certificate,
                let hello = other.hello, hello.listenPort != 0
            else { return false }
            return Self.isMeaningful(other.address, certificate, at: connection.address)
                && certificate.expires > wallClock
        }
        return others.shuffled(using: &generator).prefix(Self.exchangeCount).compactMap { other in
            guard let hello = other.hello, let certificate = other.certificate else { return nil }
            return PeerEntry(
                address: NetworkAddress(host: other.address.host, port: hello.listenPort),
                certificate: certificate.encoded[...])
        }
    }

    /// Whether an address is worth saying to, or believing of, who is at `place`.
    ///
    /// A private address means something to its own network only, and is nobody else's business; loopback means the
    /// machine itself. A public one must be the one that the tracker saw: with any other, genuine certificates would
    /// send viewers knocking wherever a liar wants.
    static func isMeaningful(
        _ address: NetworkAddress, _ certificate: MembershipCertificate, at place: NetworkAddress
    ) -> Bool {
        if address.isLoopback { return place.isLoopback }
        if address.isPrivate { return place.isPrivate || place.isLoopback }
        return address.host == certificate.observedHost
    }

    private func received(_ entries: [PeerEntry], from connection: PeerConnection) {
        let now = loop.now
        guard now >= connection.nextExchangeAccepted else { return }
        connection.nextExchangeAccepted = now.advanced(by: Self.exchangePause)
        for entry in entries.prefix(Self.exchangeCount) {
            guard let certificate = verified(entry.certificate),
                !bans.contains(certificate.peer, pseudonym: certificate.pseudonym),
                certificate.peer != identity?.peerID, entry.address.port != 0, isAllowed(entry.address),
                Self.isMeaningful(entry.address, certificate, at: connection.address)
            else { continue }
            directory.insert(certificate.peer, at: entry.address, from: .exchange, now: now)
        }
        tick()
    }

    private func received(_ frame: ClaimFrame, from peer: PeerID) {
        let digest = suite.sha256(frame.claim.span.bytes)
        guard seenClaims.insert(digest) else { return }
        // A claim that can't be read or believed is not passed on; who sent it may have been fooled itself, so that is
        // all.
        guard let claim = try? Claim(decoding: frame.claim), claim.claimer != identity?.peerID,
            !claim.certificate.flags.contains(.leechOnly),
            !bans.contains(claim.claimer, pseudonym: claim.certificate.pseudonym),
            links[claim.claimer]?.certificate == claim.certificate || isValid(claim.certificate),
            claim.isSigned(suite: suite)
        else { return }
        guard delegate?.received(claim, from: peer) == true, frame.hopCount + 1 < UInt8(WireLimits.claimHopCount),
            claimers.admits(claim.claimer, now: loop.now)
        else { return }
        let relayed = Frame.claim(ClaimFrame(hopCount: frame.hopCount + 1, claim: frame.claim)).encoded
        for connection in connections where connection.link.peer != peer && connection.link.peer != claim.claimer {
            connection.relay(relayed)
        }
    }
}
