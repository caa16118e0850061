public import CoreModel
internal import Integrity

/// What spreads from peer to peer.
extension Neighbourhood {
    /// Peers that are named in one frame.
    private static let exchangeCount = 8
    /// The least time between two frames that tell one link what this side holds.
    private static let announcementInterval: Duration = .milliseconds(500)
    /// The least time between two such frames on any links: 15 a second, so that 25 links are told every 1.6 s.
    private static let announcementGap: Duration = .milliseconds(65)
    /// The least time between two that go along with something else: within a link's gossip points.
    private static let companionInterval: Duration = .milliseconds(60)
    /// The most bytes of them that go along with a chunk, so that they hardly hold it up.
    private static let companionByteCount = 1024
    /// The shortest time between two frames that are listened to.
    private static let exchangePause: Duration = .seconds(60)

    /// Passes on the claim of the last ``NeighbourhoodEvent/claimed(_:from:)``: call it before the next poll, and not for
    /// a claim made before its time, or of a segment that is not known here.
    public mutating func passOn(now: MonotonicInstant) {
        guard let pending = pendingClaim else { return }
        pendingClaim = nil
        guard pending.frame.hopCount + 1 < UInt8(WireLimits.claimHopCount), claimers.admits(pending.claimer, now: now)
        else { return }
        let frame = ClaimFrame(hopCount: pending.frame.hopCount + 1, claim: pending.frame.claim)
        let bytes = Frame.claim(frame).encoded
        for slot in neighbours.indices {
            guard neighbours[slot].link.isEstablished, neighbours[slot].id != pending.sender,
                neighbours[slot].link.peer != pending.claimer, mayRelay(slot, now: now)
            else { continue }
            send(bytes, slot: slot)
        }
    }

    /// Whether one more of others' claims may go to a link; counts it if so.
    private mutating func mayRelay(_ slot: Int, now: MonotonicInstant) -> Bool {
        let (rate, burst) = (configuration.relayRate, configuration.relayBurst)
        guard neighbours[slot].relays.level(rate: rate, capacity: burst, now: now) >= 1 else { return false }
        neighbours[slot].relays.take(1)
        return true
    }

    /// Something has changed of what this side holds: the links are told, one after the other.
    mutating func planAnnouncement() {
        let next = announcesToAll ? .origin : announcedAt.advanced(by: Self.announcementGap)
        nextAnnouncement = min(nextAnnouncement, next)
    }

    /// Tells one link what has changed of what this side holds since it was told last: the one that has waited longest.
    ///
    /// So news is out at once, at one link, and reaches all within a round, whose length grows with the links: what a
    /// viewer uploads meanwhile goes to few at a time anyway, and those who are told late are spared what they got
    /// elsewhere.
    mutating func announceHoldings(now: MonotonicInstant) {
        nextAnnouncement = .distantFuture
        if announcesToAll { tellEverybody(now: now) }
        var first: Int?
        var told = announcer.version
        for slot in neighbours.indices where neighbours[slot].link.isEstablished {
            told = min(told, neighbours[slot].toldVersion)
            guard neighbours[slot].toldVersion < announcer.version else { continue }
            if !hasNews(for: slot) {
                neighbours[slot].toldVersion = announcer.version
            } else if first.map({ neighbours[slot].toldAt < neighbours[$0].toldAt }) ?? true {
                first = slot
            }
        }
        announcer.forgetLost(upTo: told)
        guard let first else { return }
        let due = neighbours[first].toldAt.advanced(by: Self.announcementInterval)
        guard due <= now else {
            nextAnnouncement = due
            return
        }
        tellHoldings(first, now: now)
        announcedAt = now
        nextAnnouncement = now.advanced(by: Self.announcementGap)
    }

    /// Tells all links what has changed.
    private mutating func tellEverybody(now: MonotonicInstant) {
        announcesToAll = false
        for slot in neighbours.indices where neighbours[slot].link.isEstablished { tellHoldings(slot, now: now) }
    }

    /// Whether there is anything new that the other side doesn't have.
    private func hasNews(for slot: Int) -> Bool {
        neighbours[slot].completeRoots.isEmpty
            || announcer.hasChanged(since: neighbours[slot].toldVersion, besides: neighbours[slot].completeRoots)
    }

    /// Tells a link all that is new to it.
    mutating func tellHoldings(_ slot: Int, now: MonotonicInstant) {
        for frame in announcer.frames(since: neighbours[slot].toldVersion) { send(frame, slot: slot) }
        noteTold(slot, now: now)
    }

    /// Takes note that a link has been told all.
    mutating func noteTold(_ slot: Int, now: MonotonicInstant) {
        neighbours[slot].toldVersion = announcer.version
        neighbours[slot].toldAt = now
    }

    /// Whether something new may go along with what is sent to a link now.
    mutating func hasFreshNews(for slot: Int, now: MonotonicInstant) -> Bool {
        neighbours[slot].toldVersion < announcer.version
            && neighbours[slot].toldAt.advanced(by: Self.companionInterval) <= now
            && neighbours[slot].link.isEstablished && hasNews(for: slot)
    }

    /// What goes out to a link in the message of a chunk that is ready for it, as bytes: a viewer's news reach those first
    /// who take from it.
    mutating func newsBesideData(for slot: Int, now: MonotonicInstant) -> [UInt8] {
        guard neighbours[slot].link.hasReadyChunks, hasFreshNews(for: slot, now: now) else { return [] }
        let frames = announcer.frames(since: neighbours[slot].toldVersion)
        // More than that goes in its turn.
        guard frames.count == 1, frames[0].count <= Self.companionByteCount else { return [] }
        return frames[0]
    }

    /// The other side said what it holds.
    mutating func note(_ entries: [HaveEntry], slot: Int, now: MonotonicInstant) {
        // What it has lost of it may have been kept from it.
        guard neighbours[slot].note(entries) else { return }
        // To one that starts anew nothing is said of what was lost, so that it comes before.
        if neighbours[slot].toldVersion < announcer.version { tellHoldings(slot, now: now) }
        neighbours[slot].toldVersion = 0
        planAnnouncement()
    }

    /// Tells each link whose time has come of a few other peers.
    mutating func exchangePeers(now: MonotonicInstant, time: UnixTime) {
        for slot in neighbours.indices where neighbours[slot].nextExchange <= now {
            let jitter = Double.random(in: 0.8...1.2, using: &generator)
            neighbours[slot].nextExchange = now.advanced(by: configuration.exchangeInterval * jitter)
            let entries = peersToName(to: slot, time: time)
            if !entries.isEmpty { send(Frame.peers(entries).encoded, slot: slot) }
        }
    }

    private mutating func peersToName(to slot: Int, time: UnixTime) -> [PeerEntry] {
        let place = neighbours[slot].address
        let others = neighbours.indices.filter { other in
            guard other != slot, neighbours[other].link.isEstablished, neighbours[other].listenPort != 0,
                let certificate = neighbours[other].certificate?.certificate
            else { return false }
            return Self.isMeaningful(neighbours[other].address, certificate, at: place) && certificate.expires > time
        }
        return others.shuffled(using: &generator).prefix(Self.exchangeCount).compactMap { other in
            guard let certificate = neighbours[other].certificate?.certificate else { return nil }
            return PeerEntry(
                address: NetworkAddress(host: neighbours[other].address.host, port: neighbours[other].listenPort),
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

    mutating func receive(
        _ entries: [PeerEntry], slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) {
        guard now >= neighbours[slot].nextExchangeAccepted else { return }
        let place = neighbours[slot].address
        neighbours[slot].nextExchangeAccepted = now.advanced(by: Self.exchangePause)
        for entry in entries.prefix(Self.exchangeCount) {
            guard let certificate = verified(entry.certificate, time: environment.time),
                !bans.contains(certificate.peer, pseudonym: certificate.pseudonym),
                certificate.peer != identity?.peerID, entry.address.port != 0, isAllowed(entry.address),
                Self.isMeaningful(entry.address, certificate, at: place)
            else { continue }
            directory.insert(certificate.peer, at: entry.address, from: .exchange, now: now)
        }
        nextTick = now
    }

    mutating func receive(
        _ frame: ClaimFrame, from peer: PeerID, on id: LinkID, now: MonotonicInstant,
        environment: inout some PeerEnvironment
    ) -> NeighbourhoodEvent? {
        let digest = suite.sha256(frame.claim.span.bytes)
        guard seenClaims.insert(digest) else { return nil }
        // A claim that can't be read or believed is not passed on; who sent it may have been fooled itself, so that is
        // all.
        guard let claim = try? Claim(decoding: frame.claim), claim.claimer != identity?.peerID,
            !claim.certificate.flags.contains(.leechOnly),
            !bans.contains(claim.claimer, pseudonym: claim.certificate.pseudonym),
            isKnown(claim.certificate) || isValid(claim.certificate, time: environment.time),
            claim.isSigned(suite: suite)
        else { return nil }
        pendingClaim = (frame, claim.claimer, id)
        return .claimed(claim, from: peer)
    }

    /// Whether a certificate is that of an established link, and so was found to hold.
    private func isKnown(_ certificate: MembershipCertificate) -> Bool {
        guard let slot = link(to: certificate.peer)?.slot else { return false }
        return neighbours[slot].certificate?.certificate == certificate
    }
}
