internal import CoreModel
internal import Integrity

/// Why a candidate is turned away.
struct Refusal: Error {
    let code: ByeCode
}

/// Links come and go.
extension Neighbourhood {
    /// Dials who is due and passes on peers; runs at the earliest of their deadlines and when links have come or gone.
    mutating func tick(now: MonotonicInstant, environment: inout some PeerEnvironment) {
        nextTick = .distantFuture
        guard identity != nil else { return }
        while canDial, let candidate = directory.next(now: now, where: isWanted) {
            // Until the attempt ends, so that it isn't chosen again.
            directory.postpone(candidate.peer, by: .seconds(600), now: now)
            dial(candidate.peer, at: candidate.address, now: now, environment: &environment)
        }
        exchangePeers(now: now, time: environment.time)
        var earliest = MonotonicInstant.distantFuture
        for slot in neighbours.indices { earliest = min(earliest, neighbours[slot].nextExchange) }
        if canDial, let dial = directory.nextDeadline(where: isWanted) { earliest = min(earliest, dial) }
        nextTick = max(earliest, now.advanced(by: .milliseconds(1)))
    }

    mutating func dial(
        _ peer: PeerID?, at address: NetworkAddress, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) {
        guard let identity else { return }
        let link = PeerLink(connectingTo: peer, identity: identity, now: now, using: &environment.secrets)
        put(.dial(insert(link, at: address, flags: peer == nil ? [] : .isNamed, now: now), address))
    }

    /// Puts a link into a free slot.
    mutating func insert(
        _ link: PeerLink, at address: NetworkAddress, flags: Neighbour.Flags, now: MonotonicInstant
    ) -> LinkID {
        var slot = neighbours.count
        for free in neighbours.indices where !neighbours[free].isTaken {
            slot = free
            break
        }
        let id = LinkID(slot: slot, serial: nextSerial)
        nextSerial &+= 1
        let neighbour = Neighbour(
            id: id, address: address, flags: flags, link: link,
            relays: TokenBucket(capacity: configuration.relayBurst, now: now))
        if slot == neighbours.count {
            // A link is large: room for one more, and not for twice as many.
            neighbours.reserveCapacity(slot + 1)
            neighbours.append(neighbour)
            deadlines.append(.distantFuture)
            awaitsChunks.append(false)
        } else {
            neighbours[slot] = neighbour
        }
        markDue(slot)
        return id
    }

    /// Decides about a candidate: its certificate must hold, be its own, and not be banned.
    ///
    /// The observed address is not compared: behind a NAT the tracker and a neighbour see different ones.
    mutating func check(
        _ bytes: ArraySlice<UInt8>, of peer: PeerID, environment: inout some PeerEnvironment
    ) -> Result<CertificateBox, Refusal> {
        guard let certificate = verified(bytes, time: environment.time), certificate.peer == peer else {
            refusedCertificateCount += 1
            return .failure(Refusal(code: .certificate))
        }
        guard !bans.contains(peer, pseudonym: certificate.pseudonym) else {
            return .failure(Refusal(code: .banned))
        }
        if linkCount >= configuration.maximumLinkCount, link(to: peer) == nil {
            return .failure(Refusal(code: .full))
        }
        return .success(environment.box(certificate))
    }

    /// A certificate that holds now.
    func verified(_ bytes: ArraySlice<UInt8>, time: UnixTime) -> MembershipCertificate? {
        // Why it doesn't hold makes no difference to anybody here.
        guard let certificate = try? MembershipCertificate(decoding: bytes) else { return nil }
        return isValid(certificate, time: time) ? certificate : nil
    }

    func isValid(_ certificate: MembershipCertificate, time: UnixTime) -> Bool {
        do {
            try certificate.verify(
                trusting: membershipKeys, swarm: swarm, now: time,
                grace: isTrackerAnswering ? .zero : configuration.certificateGrace, suite: suite)
            return true
        } catch {
            return false
        }
    }

    /// Both sides of a link have said hello.
    mutating func establish(_ slot: Int, _ peer: PeerID, _ hello: HelloFrame, now: MonotonicInstant) {
        neighbours[slot].listenPort = hello.listenPort
        if hello.flags.contains(.uploads) { neighbours[slot].flags.insert(.uploads) }
        if let other = link(to: peer) {
            // Of two links between the same two, both sides keep the one that the smaller name opened; of two that the
            // same side opened, the newer, for who opened it knows why.
            guard keeps(slot, over: other.slot, peer: peer) else { return close(slot: slot, .duplicate) }
            close(slot: other.slot, .duplicate)
            forget(other.slot, .link(.local(.duplicate)))
        }
        neighbours[slot].flags.insert(.isKept)
        linkCount += 1
        directory.succeed(peer, at: neighbours[slot].isOutgoing ? neighbours[slot].address : nil)
        neighbours[slot].nextExchange = now.advanced(by: configuration.firstExchangeDelay)
        neighbours[slot].toldVersion = 0
        tellHoldings(slot, now: now)
        if isChoking { choke(slot, for: chokePause(now: now), now: now) }
        if let ready = neighbours[slot].readyPeer { put(.event(.ready(ready))) }
        nextTick = now
    }

    /// A link is over: its connection is closed or gone.
    mutating func end(_ slot: Int, _ end: PeerEnd, now: MonotonicInstant) {
        let id = neighbours[slot].id
        switch end {
        case .link(.local): put(.close(id, lingers: neighbours[slot].flags.contains(.isOpen)))
        case .link: put(.close(id, lingers: false))
        case .connection, .closed: break
        }
        forget(slot, end)
        let dialled = neighbours[slot].flags.contains(.isNamed) ? neighbours[slot].link.remoteKey : nil
        endedStatistics += neighbours[slot].link.statistics
        neighbours[slot].release()
        deadlines[slot] = .distantFuture
        if uploads.remove(slot, now: now) { markUploadersDue() }
        if uploading == slot { uploading = nil }
        if let dialled { reconsider(dialled, end, now: now) }
        nextTick = now
    }

    /// A link is not its peer's any more.
    private mutating func forget(_ slot: Int, _ end: PeerEnd) {
        guard let peer = neighbours[slot].peer else { return }
        neighbours[slot].flags.remove(.isKept)
        linkCount -= 1
        put(.event(.gone(peer, neighbours[slot].id, end)))
    }

    /// Whether the settings let links go there.
    func isAllowed(_ address: NetworkAddress) -> Bool {
        !configuration.isLocalOnly || address.isPrivate || address.isLoopback
    }

    /// Whether a connection from here is to be kept out: its prefix has its share.
    func hasRoom(for address: NetworkAddress) -> Bool {
        guard !address.isLoopback, !address.isPrivate else { return true }
        let prefix = address.sitePrefix
        var count = 0
        for slot in neighbours.indices
        where neighbours[slot].isTaken && neighbours[slot].address.sitePrefix == prefix { count += 1 }
        return count < configuration.maximumLinkCountPerPrefix
    }

    private var canDial: Bool {
        var (outgoing, dialling) = (0, 0)
        for slot in neighbours.indices where neighbours[slot].isTaken && neighbours[slot].isOutgoing {
            outgoing += 1
            if !neighbours[slot].link.isEstablished { dialling += 1 }
        }
        return identity != nil && dialling < configuration.maximumDialCount
            && outgoing < configuration.maximumOutgoingLinkCount
            && linkCount + dialling < configuration.maximumLinkCount
    }

    private func isWanted(_ candidate: PeerDirectory.Candidate) -> Bool {
        link(to: candidate.peer) == nil && isAllowed(candidate.address) && hasRoom(for: candidate.address)
    }

    private func keeps(_ slot: Int, over other: Int, peer: PeerID) -> Bool {
        let isOutgoing = neighbours[slot].isOutgoing
        guard isOutgoing != neighbours[other].isOutgoing, let identity else { return true }
        return isOutgoing == (identity.peerID < peer)
    }

    /// When to try again who was dialled.
    private mutating func reconsider(_ peer: PeerID, _ end: PeerEnd, now: MonotonicInstant) {
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
