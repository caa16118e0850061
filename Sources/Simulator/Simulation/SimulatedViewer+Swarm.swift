internal import CoreModel
internal import Integrity
internal import NetworkEmulator
internal import Scheduling
internal import SwarmProtocol
internal import TrackerProtocol
internal import ViewerCore

/// What is asked of peers and what comes from them.
extension SimulatedViewer {
    // MARK: Driving the neighbourhood

    /// Has the neighbourhood's wishes carried out, once all that has come has been taken up.
    func drive() { put(.drive) }

    /// Carries out what the neighbourhood wants.
    func driveNow() {
        var environment = ViewerEnvironment(viewer: self)
        while true {
            switch neighbourhood.poll(now: now, environment: &environment) {
            case .dial(let id, let address): world.dial(address, by: self, link: id)
            case .transmit(let id, let bytes): transmit(bytes, on: id)
            case .close(let id, _): close(id)
            case .pauseReading, .resumeReading: break  // Only with a cap on downloads, which no scenario sets.
            case .event(let event): if isOnline { tell(event) }
            case .wait(let deadline):
                if let deadline { arm(.neighbourhood, at: max(deadline, now)) } else { disarm(.neighbourhood) }
                return
            }
        }
    }

    private func tell(_ event: NeighbourhoodEvent) {
        switch event {
        case .ready(let peer):
            figures.hasMet = true
            feed(books.join(peer.peer, uploads: peer.uploads))
            figures.peersConnected = max(figures.peersConnected, books.peerCount)
        case .received(let event, let peer, _): take(event, from: peer)
        case .claimed(let claim, _): if judge(claim) { neighbourhood.passOn(now: now) }
        case .gone(let peer, _, _): if let input = books.leave(peer) { feed(input) }
        }
    }

    private func transmit(_ bytes: [UInt8], on id: LinkID) {
        guard let flow = flow(of: id) else { return }
        var missing = 0
        let payload = Self.sentPayloadByteCount(of: id, &neighbourhood)
        if payload > transports[id.slot].payloadByteCount {
            // The chunk is a stand-in of a byte or two.
            missing = servedByteCount - Int(payload - transports[id.slot].payloadByteCount)
            transports[id.slot].payloadByteCount = payload
            figures.bytesUploaded += servedByteCount
            world.payload.sent += servedByteCount
            neighbourhood.noteUpload(byteCount: missing, now: now)
        }
        transports[id.slot].sentByteCount += bytes.count + missing
        world.transmit(bytes, missing: missing, payload: missing > 0 ? servedByteCount : 0, on: flow)
    }

    /// In place: reading a class's property for a call copies the whole value first.
    static func link(to peer: PeerID, _ neighbourhood: inout Neighbourhood) -> LinkID? {
        neighbourhood.link(to: peer)
    }

    /// In place too: reading a class's property for a call copies the whole value first.
    private static func sentPayloadByteCount(of id: LinkID, _ neighbourhood: inout Neighbourhood) -> UInt64 {
        neighbourhood.sentPayloadByteCount(of: id)
    }

    static func peerID(of key: PeerKey, _ books: inout PeerBooks) -> PeerID? { books.peerID(of: key) }

    private static func isOpen(_ request: RequestID, _ books: inout PeerBooks) -> Bool { books.isOpen(request) }

    private func close(_ id: LinkID) {
        guard let flow = flow(of: id) else { return }
        transports[id.slot].flow = FlowID(rawValue: -1)
        world.closePeer(flow)
    }

    /// The connection under a link, while there is one.
    func flow(of id: LinkID) -> FlowID? {
        guard id.slot < transports.count, transports[id.slot].id == id, transports[id.slot].flow.rawValue >= 0 else {
            return nil
        }
        return transports[id.slot].flow
    }

    /// What waits for a link's connection beyond what its transport takes; room is told then.
    func queuedByteCount(of link: LinkID, beyond limit: Int) -> Int {
        guard let flow = flow(of: link) else { return 0 }
        let waiting = world.waitingByteCount(on: flow)
        guard waiting > limit else { return 0 }
        if !transports[link.slot].waitsForRoom {
            transports[link.slot].waitsForRoom = true
            world.network.reportRoom(on: flow)
        }
        return waiting - limit
    }

    /// A connection to a peer is up.
    func connected(_ id: LinkID, flow: FlowID) {
        while transports.count <= id.slot { transports.append(Transport(id: id, flow: FlowID(rawValue: -1))) }
        transports[id.slot] = Transport(id: id, flow: flow)
        act {
            neighbourhood.opened(id, now: now)
            drive()
        }
    }

    /// A connection to a peer broke, or could not be made.
    func lost(_ id: LinkID) {
        if flow(of: id) != nil { transports[id.slot].flow = FlowID(rawValue: -1) }
        act {
            neighbourhood.lost(id, code: -104, now: now)
            drive()
        }
    }

    func received(_ bytes: [UInt8], missing: Int, on id: LinkID) {
        neighbourhood.receive(bytes.span.bytes, on: id, now: now)
        if missing > 0 { neighbourhood.noteDownload(byteCount: missing, now: now) }
        drive()
    }

    /// A message has arrived that a link waited for.
    func acknowledged(_ id: LinkID) {
        if neighbourhood.acknowledged(id) { drive() }
    }

    /// The transport of a link has room again.
    func hasRoom(_ id: LinkID) {
        guard flow(of: id) != nil else { return }
        transports[id.slot].waitsForRoom = false
        act {
            neighbourhood.drained(id)
            drive()
        }
    }

    // MARK: Requests and claims

    func request(
        _ id: RequestID, from peer: PeerKey, _ index: Int, chunks: Range<Int>, timeLeft: Duration
    ) {
        let busy = SchedulerInput.rejected(id, chunks: chunks, refusal: .busy, retryAfter: .milliseconds(500))
        guard let peerID = Self.peerID(of: peer, &books), ledgers[index].hasRecord else { return feed(busy) }
        let segment = segment(index)
        let stripes =
            segment.geometry.stripe(
                ofChunk: chunks.lowerBound)...segment.geometry.stripe(ofChunk: chunks.upperBound - 1)
        let request = ChunkRequest(
            id: ChunkRequestID(rawValue: id.rawValue), root: segment.root, chunks: chunks, timeLeft: timeLeft,
            wantsLeaves: stripes.contains { !ledgers[index].knowsLeaves(ofStripe: $0) })
        guard let link = Self.link(to: peerID, &neighbourhood), neighbourhood.request(request, from: link, now: now)
        else {
            return feed(busy)
        }
        books.open(id, at: peerID, chunkCount: chunks.count)
        drive()
    }

    func claim(_ index: Int, waited: Duration, owners: [MemberID]) {
        guard ledgers[index].hasRecord, let certificate,
            let assignments = books.assignments(
                of: segment(index).record, to: owners, by: PeerID(key.publicKey))
        else { return }
        claimSequence += 1
        figures.claims += 1
        neighbourhood.broadcast(
            Claim(
                root: segment(index).root, certificate: certificate, sequence: claimSequence,
                waitedMilliseconds: UInt32(clamping: waited.inMilliseconds), assignments: assignments,
                signedBy: claimKey))
        drive()
    }

    private func judge(_ claim: Claim) -> Bool {
        guard let index = index(ofRoot: claim.root) else { return false }
        let inputs = books.judge(
            claim, stripeCount: geometry(index).stripeCount, swarmSize: swarmSize,
            span: world.scheduling.electionSpan, suite: world.suite)
        for input in inputs { feed(input) }
        return !inputs.isEmpty
    }

    // MARK: What this side has

    func didChange(_ index: Int, chunks: Range<Int>) {
        guard ledgers[index].hasRecord, !givesNothing else { return }
        let place = place(index)
        let (root, geometry) = (world.stream.segments[place].root, world.stream.segments[place].geometry)
        if profile.conduct == .lying {
            return neighbourhood.holdingsChanged(
                root: root, chunks: chunks, verified: ChunkSet(geometry.chunks), expected: ChunkSet(),
                isComplete: true)
        }
        var verified = ledgers[index].present
        var expected = ledgers[index].expected
        if world.policy.isWholeSegments, verified.count < geometry.chunkCount { verified = ChunkSet() }
        if !expected.isEmpty { expected.subtract(verified) }
        // A whole segment that the CDN did not bring after all is taken back.
        guard !verified.isEmpty || !expected.isEmpty || world.policy.isWholeSegments else { return }
        neighbourhood.holdingsChanged(
            root: root, chunks: chunks, verified: verified, expected: expected,
            isComplete: verified.count == geometry.chunkCount)
        drive()
    }

    /// What is to be said of a chunk that a peer wants; one that is there is served next.
    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        guard !givesNothing, let index = index(ofRoot: root) else { return .unavailable }
        let geometry = geometry(index)
        guard geometry.chunks.contains(chunk) else { return .unavailable }
        if profile.conduct == .stalling { return .expected }
        if ledgers[index].present.contains(chunk) {
            servedByteCount = geometry.byteRange(ofChunk: chunk).count
            return .available(isPolluting ? StandIn.altered : StandIn.genuine)
        }
        if profile.conduct == .lying { return .expected }
        return ledgers[index].expected.contains(chunk) ? .expected : .unavailable
    }

    // MARK: Records

    func catalogueArrived() {
        guard isOnline else { return }
        hasCatalogue = true
        if hasTimeline { loadRecords() }
    }

    /// Takes the records that the next minutes of playback need, as far as they have been signed.
    func loadRecords() {
        guard hasCatalogue, hasTimeline, world.usesPeers, !world.stream.isLive else { return }
        var index = max(0, world.stream.index(at: player.position) - firstSegment)
        let horizon = player.position + Self.recordWindow
        while index < knownSegments, segment(index).start < horizon {
            if !ledgers[index].hasRecord { adoptRecord(of: index) }
            index += 1
        }
    }

    /// Live: the records of a segment have come, those of all its renditions.
    func recordCame(of index: Int) {
        guard index >= 0, index < listedSegments else { return }
        if renditions != nil { _ = recorded.insert(index) }
        // What isn't chosen yet takes its record then.
        if index < knownSegments { adoptRecord(of: index) }
    }

    func adoptRecord(of index: Int) {
        guard !ledgers[index].hasRecord else { return }
        let segment = segment(index)
        let id = SegmentID(track: 0, index: index)
        let known = books.adopt(id, root: segment.root, chunkCount: segment.geometry.chunkCount)
        let before = ledgers[index].present.count
        ledgers[index].adoptRecord(segment.geometry)
        heldChunkCount += ledgers[index].present.count - before
        feed(
            .record(
                id, key: segment.root.value.words.0, byteCount: segment.geometry.byteCount, draw: draw(segment.root)))
        feed(.present(id, ledgers[index].present))
        for fetch in fetches where fetch.index == index { ledgers[index].expected.insert(fetch.chunks) }
        didChange(index, chunks: segment.geometry.chunks)
        pump()
        feed(known)
    }

    /// This viewer's place in a segment's election; last without a certificate.
    private func draw(_ root: Digest) -> Double {
        guard let certificate else { return 0.999_999 }
        return ElectionTicket.draw(nonce: certificate.nonce, segment: root, suite: world.suite)
    }

    /// The certificate has come or changed: the elections' draws with it.
    func redraw() {
        for index in ledgers.indices where ledgers[index].hasRecord {
            let segment = segment(index)
            feed(
                .record(
                    SegmentID(track: 0, index: index), key: segment.root.value.words.0,
                    byteCount: segment.geometry.byteCount, draw: draw(segment.root)))
        }
    }

    // MARK: From peers

    /// The segment with a root, if its record has come.
    func index(ofRoot root: Digest) -> Int? {
        guard let place = world.stream.place(ofRoot: root) else { return nil }
        let index = place % world.stream.count - firstSegment
        guard ledgers.indices.contains(index), ledgers[index].hasRecord else { return nil }
        return renditions == nil || self.place(index) == place ? index : nil
    }

    private func take(_ event: LinkEvent, from peer: PeerID) {
        switch event {
        case .leaves(let root, let stripe, let leaves): return take(leaves, stripe: stripe, of: root, from: peer)
        case .chunk(let id, let root, let chunk, let payload):
            return take(
                payload, chunk: chunk, of: root, request: RequestID(rawValue: id.rawValue), from: peer)
        case .recordRequested(let id, _):
            if let link = Self.link(to: peer, &neighbourhood) { neighbourhood.answerRecord(id, with: [], to: link) }
        case .rejected: figures.requestsRejected += 1
        case .requestTimedOut: figures.requestsTimedOut += 1
        case .have, .choked, .unchoked, .candidate, .established, .claim, .record, .peers, .roundTrip, .closed: break
        }
        feed(books.take(event, from: peer, now: now))
    }

    private func take(_ leaves: [Digest], stripe: Int, of root: Digest, from peer: PeerID) {
        guard let index = index(ofRoot: root) else { return }
        let geometry = geometry(index)
        guard stripe < geometry.stripeCount, leaves == segment(index).leaves[stripe] else { return convict(peer) }
        let before = ledgers[index].present.count
        guard ledgers[index].takeLeaves(ofStripe: stripe, geometry) else { return }
        heldChunkCount += ledgers[index].present.count - before
        feed(.present(SegmentID(track: 0, index: index), ledgers[index].present))
        didChange(index, chunks: geometry.chunks)
        pump()
    }

    private func take(
        _ payload: ArraySlice<UInt8>, chunk: Int, of root: Digest, request: RequestID, from peer: PeerID
    ) {
        defer { books.tookChunk(of: request) }
        guard let index = index(ofRoot: root), geometry(index).chunks.contains(chunk) else {
            // Of a rendition that isn't wanted any more.
            if let place = world.stream.place(ofRoot: root),
                world.stream.segments[place].geometry.chunks.contains(chunk)
            {
                figures.bytesWasted += world.stream.segments[place].geometry.byteRange(ofChunk: chunk).count
            }
            return
        }
        let byteCount = geometry(index).byteRange(ofChunk: chunk).count
        guard ledgers[index].canTakeFromPeer(chunk, geometry(index)) else {
            figures.bytesWasted += byteCount
            if Self.isOpen(request, &books), ledgers[index].present.contains(chunk) {
                feed(.chunkArrived(request, chunk: chunk, byteCount: byteCount))
            }
            return
        }
        guard payload.first == StandIn.genuine.first else {
            figures.chunksRejected += 1
            figures.bytesWasted += byteCount
            world.payload.altered += byteCount
            return convict(peer)
        }
        ledgers[index].takeFromPeer(chunk)
        heldChunkCount += 1
        figures.chunksVerified += 1
        figures.bytesPeers += byteCount
        renditions?.peerReceived(byteCount: byteCount, now: now)
        noteCompleted(index)
        if Self.isOpen(request, &books) {
            feed(.chunkArrived(request, chunk: chunk, byteCount: byteCount))
        } else {
            feed(.present(SegmentID(track: 0, index: index), ledgers[index].present))
        }
        didChange(index, chunks: chunk..<chunk + 1)
        pump()
    }

    /// Bans a peer on proof.
    private func convict(_ peer: PeerID) {
        figures.peersBanned += 1
        neighbourhood.ban(peer)
        drive()
    }

    // MARK: Time

    func tickSwarm() {
        guard world.usesPeers else { return }
        if world.stream.isLive { world.refresh(self) } else { loadRecords() }
        if let until = frontValidUntil, until <= now {
            frontValidUntil = nil
            feed(.front(nil))
        }
        guard now >= nextSnapshot else { return }
        nextSnapshot = now.advanced(by: .seconds(1))
        report()
        if books.peerCount < 8, now >= nextWant {
            nextWant = now.advanced(by: .seconds(10))
            feedTracker(.wantPeers(16))
        }
    }
}

/// What stands in for a chunk's bytes.
enum StandIn {
    static let genuine: ArraySlice<UInt8> = [0x67]
    static let altered: ArraySlice<UInt8> = [0x78]
}

/// What a viewer's neighbourhood asks of the world.
struct ViewerEnvironment: PeerEnvironment {
    unowned(unsafe) let viewer: SimulatedViewer

    var source: ViewerStore { ViewerStore(viewer: viewer) }
    var secrets: SeededGenerator {
        get { viewer.secrets }
        nonmutating set { viewer.secrets = newValue }
    }
    var time: UnixTime { viewer.world.time }

    /// What a socket's buffer takes of bytes that can't be sent yet: `TCP_NOTSENT_LOWAT`, and the message that passes it.
    private static let unsentByteCount = 17 << 10

    /// The simulation knows what has arrived.
    var tellsAcknowledgements: Bool { true }

    func queuedByteCount(of link: LinkID) -> Int { viewer.queuedByteCount(of: link, beyond: Self.unsentByteCount) }

    func unacknowledgedByteCount(of link: LinkID) -> Int {
        guard let flow = viewer.flow(of: link) else { return 0 }
        return viewer.world.unacknowledgedByteCount(on: flow, unsent: Self.unsentByteCount)
    }

    func sentByteCount(of link: LinkID) -> Int {
        viewer.flow(of: link) == nil ? 0 : viewer.transports[link.slot].sentByteCount
    }

    func roundTrip(of link: LinkID) -> Duration? {
        guard let flow = viewer.flow(of: link) else { return nil }
        let roundTrip = viewer.world.roundTrip(on: flow)
        return roundTrip > 0 ? .nanoseconds(roundTrip) : nil
    }

    func box(_ certificate: MembershipCertificate) -> CertificateBox { viewer.world.box(certificate) }
}

/// A viewer's chunks, for upload.
struct ViewerStore: ChunkSource {
    unowned(unsafe) let viewer: SimulatedViewer

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        viewer.availability(ofChunk: chunk, root: root)
    }

    func start(ofSegment root: Digest) -> Duration? {
        viewer.index(ofRoot: root).map { viewer.segment($0).start }
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? {
        guard let index = viewer.index(ofRoot: root), viewer.ledgers[index].knowsLeaves(ofStripe: stripe) else {
            return nil
        }
        return viewer.segment(index).leaves[stripe]
    }
}
