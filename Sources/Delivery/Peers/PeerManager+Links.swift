import CoreModel
import Cryptography
import EventLoop
import Integrity
import SwarmProtocol

/// Why a candidate is turned away.
struct Refusal: Error {
    let code: ByeCode
}

/// Links come and go.
extension PeerManager {
    /// Dials who is due, announces, and passes on peers; runs at the earliest of their deadlines.
    func tick() {
        guard !isClosed, identity != nil else { return }
        let now = loop.now
        while canDial, let candidate = directory.next(now: now, where: isWanted) {
            // Until the attempt ends, so that it isn't chosen again.
            directory.postpone(candidate.peer, by: .seconds(600), now: now)
            dial(candidate.peer, at: candidate.address)
        }
        exchangePeers(now: now)
        flushHoldings()
    }

    /// Arms the timer for what comes next.
    func armTick() {
        guard !isClosed else { return }
        var deadlines = connections.map(\.nextExchange)
        if let announcement = announcer.nextDeadline { deadlines.append(announcement) }
        if canDial, let dial = directory.nextDeadline(where: isWanted) { deadlines.append(dial) }
        guard let earliest = deadlines.min(), earliest != .distantFuture else {
            tickTimer?.cancel()
            return
        }
        tickTimer?.arm(at: max(earliest, loop.now.advanced(by: .milliseconds(1))))
    }

    func dial(_ peer: PeerID?, at address: NetworkAddress) {
        guard let identity, !isClosed else { return }
        var random = SystemRandom()
        let link = PeerLink(connectingTo: peer, identity: identity, now: loop.now, using: &random)
        do {
            let source = configuration.sourceAddress.map { NetworkAddress(host: $0.host, port: 0) }
            let connection = PeerConnection(
                try TCPConnection(loop: loop, to: address, from: source), to: address, dialled: peer, isOutgoing: true,
                link: link, loop: loop, manager: self)
            connections.append(connection)
            connection.start()
        } catch {
            if let peer { directory.fail(peer, now: loop.now, using: &generator) }
        }
    }

    func accept(_ connection: TCPConnection) {
        let strangers = connections.count { !$0.isOutgoing && !$0.link.isEstablished }
        guard let identity, !isClosed, strangers < configuration.maximumStrangerCount,
            let address = connection.remoteAddress, isAllowed(address), handshakes.admits(address, now: loop.now),
            hasRoom(for: address)
        else { return connection.close() }
        var random = SystemRandom()
        let link = PeerLink(acceptingWith: identity, now: loop.now, using: &random)
        let peer = PeerConnection(
            connection, to: address, dialled: nil, isOutgoing: false, link: link, loop: loop, manager: self)
        connections.append(peer)
        peer.start()
    }

    /// Decides about a candidate: its certificate must hold, be its own, and not be banned.
    ///
    /// The observed address is not compared: behind a NAT the tracker and a neighbour see different ones.
    func check(
        _ bytes: ArraySlice<UInt8>, of peer: PeerID, for connection: PeerConnection
    ) -> Result<MembershipCertificate, Refusal> {
        guard let certificate = verified(bytes), certificate.peer == peer else {
            refusedCertificateCount += 1
            return .failure(Refusal(code: .certificate))
        }
        guard !bans.contains(peer, pseudonym: certificate.pseudonym) else {
            return .failure(Refusal(code: .banned))
        }
        if links[peer] == nil, links.count >= configuration.maximumLinkCount {
            return .failure(Refusal(code: .full))
        }
        return .success(certificate)
    }

    /// A certificate that holds now.
    func verified(_ bytes: ArraySlice<UInt8>) -> MembershipCertificate? {
        // Why it doesn't hold makes no difference to anybody here.
        guard let certificate = try? MembershipCertificate(decoding: bytes) else { return nil }
        return isValid(certificate) ? certificate : nil
    }

    func isValid(_ certificate: MembershipCertificate) -> Bool {
        do {
            try certificate.verify(
                trusting: membershipKeys, swarm: swarm, now: wallClock(),
                grace: isTrackerAnswering ? .zero : configuration.certificateGrace, suite: suite)
            return true
        } catch {
            return false
        }
    }

    func established(_ connection: PeerConnection) {
        guard let peer = connection.link.peer else { return }
        if let other = links[peer] {
            // Of two links between the same two, both sides keep the one that the smaller name opened; of two that the
            // same side opened, the newer, for who opened it knows why.
            guard keeps(connection, over: other) else { return connection.close(.duplicate) }
            other.close(.duplicate)
        }
        links[peer] = connection
        directory.succeed(peer, at: connection.isOutgoing ? connection.address : nil)
        let now = loop.now
        connection.nextExchange = now.advanced(by: configuration.firstExchangeDelay)
        for entries in announcer.snapshot { connection.send(Frame.have(entries).encoded) }
        if isChoking { connection.choke(for: chokePause(now: now)) }
        if let ready = Self.readyPeer(connection) { delegate?.peerReady(ready) }
        armTick()
    }

    func ended(_ connection: PeerConnection, _ end: PeerEnd) {
        connections.removeAll { $0 === connection }
        endedStatistics += connection.link.statistics
        if uploading === connection { uploading = nil }
        if let peer = connection.link.peer, links[peer] === connection {
            links[peer] = nil
            delegate?.peerGone(peer, end)
        }
        if let peer = connection.dialled { reconsider(peer, end) }
        tick()
    }

    /// Keeps a connection open until the other side has read the last frame and closed, or for a second: closed at once
    /// with bytes unread, it would be reset and the frame lost.
    func linger(_ connection: TCPConnection) {
        guard !isClosed, connection.isOpen else { return connection.close() }
        if lingering.count >= configuration.maximumStrangerCount { lingering.removeFirst().connection.close() }
        connection.onRead = { _ in }
        connection.onDrain = nil
        connection.onClose = { [weak self, weak connection] _ in
            self?.lingering.removeAll { $0.connection === connection }
        }
        connection.resumeReading()
        lingering.append((connection, loop.now.advanced(by: .seconds(1))))
        if lingering.count == 1 { endLingering() }
    }

    /// Closes what has lingered long enough.
    func endLingering() {
        let now = loop.now
        while let first = lingering.first, first.end <= now { lingering.removeFirst().connection.close() }
        if let first = lingering.first { lingerTimer?.arm(at: first.end) }
    }

    /// Whether the settings let links go there.
    func isAllowed(_ address: NetworkAddress) -> Bool {
        !configuration.isLocalOnly || address.isPrivate || address.isLoopback
    }

    /// Whether a connection from here is to be kept out: its prefix has its share.
    func hasRoom(for address: NetworkAddress) -> Bool {
        guard !address.isLoopback, !address.isPrivate else { return true }
        let prefix = address.sitePrefix
        return connections.count { $0.address.sitePrefix == prefix } < configuration.maximumLinkCountPerPrefix
    }

    static func readyPeer(_ connection: PeerConnection) -> ReadyPeer? {
        guard connection.link.isEstablished, let peer = connection.link.peer,
            let certificate = connection.certificate, let hello = connection.hello
        else { return nil }
        return ReadyPeer(
            peer: peer, certificate: certificate, address: connection.address,
            uploads: hello.flags.contains(.uploads) && !certificate.flags.contains(.leechOnly),
            isOutgoing: connection.isOutgoing)
    }

    private var canDial: Bool {
        let outgoing = connections.count(where: \.isOutgoing)
        let dialling = connections.count { $0.isOutgoing && !$0.link.isEstablished }
        return identity != nil && dialling < configuration.maximumDialCount
            && outgoing < configuration.maximumOutgoingLinkCount
            && links.count + dialling < configuration.maximumLinkCount
    }

    private func isWanted(_ candidate: PeerDirectory.Candidate) -> Bool {
        links[candidate.peer] == nil && isAllowed(candidate.address) && hasRoom(for: candidate.address)
    }

    private func keeps(_ connection: PeerConnection, over other: PeerConnection) -> Bool {
        guard connection.isOutgoing != other.isOutgoing, let identity, let peer = connection.link.peer else {
            return true
        }
        return connection.isOutgoing == (identity.peerID < peer)
    }

    /// When to try again who was dialled.
    private func reconsider(_ peer: PeerID, _ end: PeerEnd) {
        let now = loop.now
        switch end {
        case .link(.remote(.full)), .link(.refused(.full)): directory.postpone(peer, by: .seconds(60), now: now)
        case .link(.remote(.duplicate)), .link(.local(.duplicate)):
            directory.postpone(peer, by: .seconds(30), now: now)
        case .link(.remote(.leaving)), .link(.refused(.myself)), .link(.refused(.banned)), .link(.local(.badData)),
            .link(.remote(.badData)), .link(.remote(.banned)), .link(.remote(.myself)):
            directory.remove(peer)
        case .link, .connection, .closed: directory.fail(peer, now: now, using: &generator)
        }
    }
}
