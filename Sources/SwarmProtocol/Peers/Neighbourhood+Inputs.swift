public import CoreModel
public import Integrity

/// What the driver and the owner tell it.
extension Neighbourhood {
    // MARK: Joining and leaving

    /// Takes the certificate that new links show: the first one, or a renewed one. Established links outlive it.
    ///
    /// - Parameters:
    ///   - key: The X25519 key that the certificate binds.
    ///   - listenPort: Where this side listens; 0 for nowhere.
    public mutating func join(
        certificate: MembershipCertificate, key: any AgreementKey, listenPort: UInt16, now: MonotonicInstant
    ) {
        precondition(certificate.peer.publicKey == key.publicKey, "a certificate for another key")
        identity = LinkIdentity(
            suite: suite, key: key, certificate: certificate.encoded, swarm: swarm, uploads: configuration.uploads,
            listenPort: listenPort, configuration: configuration.link)
        nextTick = now
    }

    /// Says goodbye to everybody; nobody is dialled any more. Poll once more for what is to be sent.
    public mutating func leave() {
        identity = nil
        nextTick = .distantFuture
        for slot in neighbours.indices { close(slot: slot, .leaving) }
    }

    // MARK: Peers

    /// Takes note of a peer that a tracker named.
    public mutating func add(_ peer: PeerID, at address: NetworkAddress, now: MonotonicInstant) {
        guard peer != identity?.peerID, !bans.contains(peer), address.port != 0, isAllowed(address) else { return }
        directory.insert(peer, at: address, from: .tracker, now: now)
        nextTick = now
    }

    /// Opens a link to an address whose owner is not known: the handshake is XX.
    public mutating func connect(
        to address: NetworkAddress, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) {
        guard isAllowed(address) else { return }
        dial(nil, at: address, now: now, environment: &environment)
    }

    /// Drops a peer that sent provably bad bytes, for good: by its key and by the credential behind it.
    public mutating func ban(_ peer: PeerID) {
        let slot = link(to: peer)?.slot
        bans.insert(peer, pseudonym: slot.flatMap { neighbours[$0].certificate?.certificate.pseudonym })
        directory.remove(peer)
        if let slot { close(slot: slot, .badData) }
    }

    /// Drops a link that is of no use; its peer may come back.
    public mutating func drop(_ id: LinkID, _ code: ByeCode = .done) {
        if let slot = slot(of: id) { close(slot: slot, code) }
    }

    // MARK: Transports

    /// Takes a connection that was accepted from `address`.
    ///
    /// - Returns: Its name, to go on with ``opened(_:now:)``; `nil` to close it.
    public mutating func accept(
        from address: NetworkAddress, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> LinkID? {
        var strangers = 0
        for slot in neighbours.indices
        where neighbours[slot].isTaken && !neighbours[slot].isOutgoing && !neighbours[slot].link.isEstablished {
            strangers += 1
        }
        guard let identity, strangers < configuration.maximumStrangerCount, isAllowed(address),
            handshakes.admits(address, now: now), hasRoom(for: address)
        else { return nil }
        let link = PeerLink(acceptingWith: identity, now: now, using: &environment.secrets)
        return insert(link, at: address, flags: [], now: now)
    }

    /// A link's connection is up.
    public mutating func opened(_ id: LinkID, now: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        neighbours[slot].flags.insert(.isOpen)
        markDue(slot)
    }

    /// Takes bytes from a link's connection, in any portions.
    public mutating func receive(_ bytes: RawSpan, on id: LinkID, now: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        neighbours[slot].link.receive(bytes, now: now)
        if let pause = countDownload(bytes.byteCount, now: now) { pauseReading(slot, until: now.advanced(by: pause)) }
        markDue(slot)
    }

    /// All that was handed to a link's transport has been taken.
    public mutating func drained(_ id: LinkID) {
        guard let slot = slot(of: id) else { return }
        markDue(slot)
    }

    /// The other side has acknowledged bytes that a link sent; told by drivers that learn of it
    /// (``PeerEnvironment/tellsAcknowledgements``).
    ///
    /// - Returns: Whether something waits for that, so that a poll has something to do.
    public mutating func acknowledged(_ id: LinkID) -> Bool {
        guard let slot = slot(of: id), neighbours[slot].link.hasReadyChunks else { return false }
        markDue(slot)
        return true
    }

    /// A link's connection ended, or could not be opened; its driver has forgotten it.
    ///
    /// - Parameter code: The system's, for the log.
    public mutating func lost(_ id: LinkID, code: Int32, now: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        neighbours[slot].link.connectionLost()
        end(slot, .connection(code: code), now: now)
    }

    // MARK: Requests

    /// Asks a peer for chunks; false when the link is gone or the peer's queue full.
    public mutating func request(_ request: ChunkRequest, from id: LinkID, now: MonotonicInstant) -> Bool {
        guard let slot = slot(of: id), neighbours[slot].link.request(request, now: now) else { return false }
        // In the request's message it costs nearly nothing.
        if hasFreshNews(for: slot, now: now) { tellHoldings(slot, now: now) }
        markDue(slot)
        return true
    }

    /// Whether a request for this many chunks would be taken now.
    public func canRequest(chunkCount: Int, from id: LinkID) -> Bool {
        guard let slot = slot(of: id) else { return false }
        return neighbours[slot].link.canRequest(chunkCount: chunkCount)
    }

    /// Takes a request back.
    public mutating func cancel(_ request: ChunkRequestID, from id: LinkID, now: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        neighbours[slot].link.cancel(request, now: now)
        markDue(slot)
    }

    /// Asks a peer for the record of a name; false when the link is gone or its table full.
    public mutating func requestRecord(
        _ request: RecordRequestID, of name: SegmentName, from id: LinkID, now: MonotonicInstant
    ) -> Bool {
        guard let slot = slot(of: id), neighbours[slot].link.requestRecord(request, of: name, now: now) else {
            return false
        }
        markDue(slot)
        return true
    }

    /// Answers a peer's record request; empty bytes say that there is none here.
    public mutating func answerRecord(_ request: RecordRequestID, with bytes: ArraySlice<UInt8>, to id: LinkID) {
        send(.record(request, bytes), to: id)
    }

    /// Measures the round trip of a link; ``LinkEvent/roundTrip(_:)`` follows.
    public mutating func probe(_ id: LinkID, now: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        neighbours[slot].link.probe(now: now)
        markDue(slot)
    }

    /// Sends a frame that needs no table, when the link is established.
    public mutating func send(_ frame: Frame, to id: LinkID) {
        if let slot = slot(of: id) { send(frame.encoded, slot: slot) }
    }

    // MARK: What this side holds

    /// Takes note that chunks were verified, lost, or became expected: peers' requests for them are looked at again, and
    /// the links are told of the change, one after the other. Who does not upload keeps it to itself.
    ///
    /// - Parameters:
    ///   - chunks: The chunks that changed.
    ///   - verified: All that can be uploaded now.
    ///   - expected: All that are being fetched.
    public mutating func holdingsChanged(
        root: Digest, chunks: Range<Int>, verified: ChunkSet, expected: ChunkSet, isComplete: Bool
    ) {
        if configuration.uploads {
            let version = announcer.version
            announcer.update(root: root, verified: verified, expected: expected, isComplete: isComplete)
            if announcer.version != version {
                // What begins to come from elsewhere, nobody may have yet: all are to know at once.
                if !expected.isEmpty, announcer.isNew(root) { announcesToAll = true }
                planAnnouncement()
            }
        }
        wake(root: root, chunks: chunks)
    }

    /// Takes note that a segment was evicted.
    public mutating func holdingsLost(root: Digest) {
        announcer.remove(root: root)
        planAnnouncement()
        wake(root: root, chunks: 0..<WireLimits.chunkCount)
    }

    /// Whether any peer waits for any of these chunks.
    public func awaits(root: Digest, chunks: Range<Int>) -> Bool {
        for slot in neighbours.indices where neighbours[slot].link.awaits(root: root, chunks: chunks) { return true }
        return false
    }

    /// Spreads a claim of this viewer's.
    public mutating func broadcast(_ claim: Claim) {
        let bytes = claim.encoded
        _ = seenClaims.insert(suite.sha256(bytes.span.bytes))
        broadcast(Frame.claim(ClaimFrame(hopCount: 0, claim: bytes[...])).encoded)
    }

    /// Takes note of bytes that came from elsewhere (the CDN): they count for the share of upload and, with a limited
    /// downlink, hold peers back.
    public mutating func noteDownload(byteCount: Int, now: MonotonicInstant) {
        _ = countDownload(byteCount, now: now)
    }

    /// Takes note of bytes that go out beside what was transmitted: they count for the caps on upload. Of a driver whose
    /// chunks are smaller stand-ins of the real ones, the difference.
    public mutating func noteUpload(byteCount: Int, now: MonotonicInstant) { budget.spend(byteCount, now: now) }

    private mutating func wake(root: Digest, chunks: Range<Int>) {
        for slot in awaitsChunks.indices where awaitsChunks[slot] {
            if neighbours[slot].link.chunksAvailable(root: root, chunks: chunks) { markDue(slot) }
        }
    }

    mutating func close(slot: Int, _ code: ByeCode) {
        neighbours[slot].link.close(code)
        markDue(slot)
    }
}
