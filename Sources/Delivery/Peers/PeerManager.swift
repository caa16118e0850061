package import CoreModel
import Cryptography
package import EventLoop
package import Integrity
package import SwarmProtocol

/// A viewer's links to other viewers over TCP: the listener, the connections and the timer around a ``Neighbourhood``,
/// which decides. Confined to the loop.
///
/// Nothing happens before ``join(certificate:key:)``: without a certificate there is no identity to show. Bytes that come
/// from peers go to the delegate unverified; it verifies them and answers with ``ban(_:)`` when they are provably bad.
package final class PeerManager {
    /// Unsent bytes that the system may hold before it says that it is full.
    private static let notSentLowWater = 16 * 1024

    /// Who is told of peers and what they send.
    package weak var delegate: (any PeerManagerDelegate)?

    private(set) var neighbourhood: Neighbourhood
    private let loop: EventLoop
    private let configuration: PeerManagerConfiguration
    private var transports: PeerTransports
    private let lingering: LingeringConnections
    private var listener: TCPListener?
    private var timer: LoopTimer?
    private var isDriving = false
    private var isClosed = false

    /// Makes a manager that waits for its certificate.
    ///
    /// - Parameters:
    ///   - source: Where uploads come from. It must not call the manager.
    ///   - wallClock: The time that certificates are checked against. It must not call the manager either.
    package init(
        loop: EventLoop, configuration: PeerManagerConfiguration, swarm: SwarmID, membershipKeys: [VerificationKey],
        source: any ChunkSource, suite: any CryptoSuite = SystemCryptoSuite(), wallClock: @escaping () -> UnixTime
    ) {
        self.loop = loop
        self.configuration = configuration
        var system = SystemRandom()
        neighbourhood = Neighbourhood(
            configuration: configuration.neighbourhood, swarm: swarm, membershipKeys: membershipKeys, suite: suite,
            generator: SeededGenerator(seed: system.next()), now: loop.now)
        transports = PeerTransports(source: source, wallClock: wallClock)
        lingering = LingeringConnections(loop: loop, limit: configuration.neighbourhood.maximumStrangerCount)
        timer = LoopTimer(loop: loop) { [weak self] in self?.drive() }
    }

    deinit {
        transports.close()
        lingering.close()
    }

    // MARK: State

    /// Where this side listens; `nil` before ``listen()`` or when it does not.
    package var listenAddress: NetworkAddress? { listener?.localAddress }
    /// The swarm that the links belong to.
    package var swarm: SwarmID { neighbourhood.swarm }
    /// The established links' peers, in the order of their coming.
    package var peers: [ReadyPeer] { neighbourhood.peers }
    /// What all links have moved, also those that ended.
    package var statistics: LinkStatistics { neighbourhood.statistics }
    /// Peers that were banned.
    package var bans: BanList { neighbourhood.bans }
    /// Certificates that were refused, by why: the figure behind a swarm that doesn't come together.
    package var refusedCertificateCount: Int { neighbourhood.refusedCertificateCount }

    /// The tracker keys whose certificates are trusted.
    package var membershipKeys: [VerificationKey] {
        get { neighbourhood.membershipKeys }
        set { neighbourhood.membershipKeys = newValue }
    }

    /// Whether a tracker answers. While none does, certificates that have run out are accepted for some hours.
    package var isTrackerAnswering: Bool {
        get { neighbourhood.isTrackerAnswering }
        set { neighbourhood.isTrackerAnswering = newValue }
    }

    /// The caps on upload; a new value holds from the next frame on.
    package var uploadCaps: UploadCaps {
        get { neighbourhood.uploadCaps }
        set { neighbourhood.uploadCaps = newValue }
    }

    /// Establishes no more links than this, and never more than before; those that are there stay.
    package func limitLinks(to count: Int) { neighbourhood.limitLinks(to: count) }

    // MARK: Joining and leaving

    /// Opens the listening socket, so that the tracker can be told the port. Does nothing without an address to listen
    /// at.
    package func listen() throws(LoopError) {
        loop.checkIsolated()
        guard listener == nil, !isClosed, let address = configuration.listenAddress else { return }
        listener = try TCPListener(loop: loop, at: address) { [weak self] connection in self?.accept(connection) }
    }

    /// Takes the certificate that new links show: the first one, or a renewed one. Established links outlive it.
    ///
    /// - Parameter key: The X25519 key that the certificate binds.
    package func join(certificate: MembershipCertificate, key: any AgreementKey) {
        guard !isClosed else { return }
        neighbourhood.join(
            certificate: certificate, key: key, listenPort: listener?.localAddress?.port ?? 0, now: loop.now)
        drive()
    }

    /// Says goodbye to everybody and stops listening. The delegate is told of nothing any more.
    package func close() {
        loop.checkIsolated()
        guard !isClosed else { return }
        isClosed = true
        delegate = nil
        listener?.close()
        listener = nil
        neighbourhood.leave()
        // Also from within an event's handler: what goes out goes out now.
        drain()
        transports.close()
        lingering.close()
        timer?.cancel()
    }

    // MARK: Peers

    /// Takes note of a peer that a tracker named.
    package func add(_ peer: PeerID, at address: NetworkAddress) {
        neighbourhood.add(peer, at: address, now: loop.now)
        drive()
    }

    /// Opens a link to an address whose owner is not known: the handshake is XX.
    package func connect(to address: NetworkAddress) {
        neighbourhood.connect(to: address, now: loop.now, environment: &transports)
        drive()
    }

    /// Drops a peer that sent provably bad bytes, for good: by its key and by the credential behind it.
    package func ban(_ peer: PeerID) {
        neighbourhood.ban(peer)
        drive()
    }

    /// Drops a link that is of no use; its peer may come back.
    package func drop(_ peer: PeerID, _ code: ByeCode = .done) {
        guard let link = neighbourhood.link(to: peer) else { return }
        neighbourhood.drop(link, code)
        drive()
    }

    // MARK: Requests

    /// Asks a peer for chunks; false when it is gone or its queue is full.
    package func request(_ request: ChunkRequest, from peer: PeerID) -> Bool {
        guard let link = neighbourhood.link(to: peer) else { return false }
        let isTaken = neighbourhood.request(request, from: link, now: loop.now)
        drive()
        return isTaken
    }

    /// Whether a request for this many chunks would be taken now.
    package func canRequest(chunkCount: Int, from peer: PeerID) -> Bool {
        neighbourhood.link(to: peer).map { neighbourhood.canRequest(chunkCount: chunkCount, from: $0) } ?? false
    }

    /// Takes a request back.
    package func cancel(_ id: ChunkRequestID, from peer: PeerID) {
        guard let link = neighbourhood.link(to: peer) else { return }
        neighbourhood.cancel(id, from: link, now: loop.now)
        drive()
    }

    /// Asks a peer for the record of a name; false when it is gone or its table full.
    package func requestRecord(_ id: RecordRequestID, of name: SegmentName, from peer: PeerID) -> Bool {
        guard let link = neighbourhood.link(to: peer) else { return false }
        let isTaken = neighbourhood.requestRecord(id, of: name, from: link, now: loop.now)
        drive()
        return isTaken
    }

    /// Answers a peer's record request; empty bytes say that there is none here.
    package func answerRecord(_ id: RecordRequestID, with bytes: ArraySlice<UInt8>, to peer: PeerID) {
        send(.record(id, bytes), to: peer)
    }

    /// Measures the round trip to a peer; ``LinkEvent/roundTrip(_:)`` follows.
    package func probe(_ peer: PeerID) {
        guard let link = neighbourhood.link(to: peer) else { return }
        neighbourhood.probe(link, now: loop.now)
        drive()
    }

    /// Sends a frame that needs no table.
    func send(_ frame: Frame, to peer: PeerID) {
        guard let link = neighbourhood.link(to: peer) else { return }
        neighbourhood.send(frame, to: link)
        drive()
    }

    // MARK: What this side holds

    /// Takes note that chunks were verified, lost, or became expected: peers' requests for them are looked at again, and
    /// the change is announced within half a second.
    ///
    /// - Parameters:
    ///   - chunks: The chunks that changed.
    ///   - verified: All that can be uploaded now.
    ///   - expected: All that are being fetched.
    package func holdingsChanged(
        root: Digest, chunks: Range<Int>, verified: ChunkSet, expected: ChunkSet, isComplete: Bool
    ) {
        neighbourhood.holdingsChanged(
            root: root, chunks: chunks, verified: verified, expected: expected, isComplete: isComplete)
        drive()
    }

    /// Takes note that a segment was evicted.
    package func holdingsLost(root: Digest) {
        neighbourhood.holdingsLost(root: root)
        drive()
    }

    /// Whether any peer waits for any of these chunks.
    package func awaits(root: Digest, chunks: Range<Int>) -> Bool { neighbourhood.awaits(root: root, chunks: chunks) }

    /// Spreads a claim of this viewer's.
    package func broadcast(_ claim: Claim) {
        neighbourhood.broadcast(claim)
        drive()
    }

    /// Takes note of bytes that came from elsewhere (the CDN): they count for the share of upload and, with a limited
    /// downlink, hold peers back.
    package func noteDownload(byteCount: Int) {
        neighbourhood.noteDownload(byteCount: byteCount, now: loop.now)
        drive()
    }

    // MARK: Carrying out

    private func drive() {
        loop.checkIsolated()
        // An event's handler may give a command, which comes here again: the outer call goes on with it.
        guard !isDriving, !isClosed else { return }
        isDriving = true
        drain()
        isDriving = false
    }

    private func drain() {
        while true {
            switch neighbourhood.poll(now: loop.now, environment: &transports) {
            case .dial(let id, let address): dial(id, address)
            case .transmit(let id, let bytes): transports[id]?.write(bytes)
            case .close(let id, let lingers): close(id, lingers: lingers)
            case .pauseReading(let id): transports[id]?.pauseReading()
            case .resumeReading(let id): transports[id]?.resumeReading()
            case .event(let event): tell(event)
            case .wait(let deadline):
                if let deadline { timer?.arm(at: deadline) } else { timer?.cancel() }
                return
            }
        }
    }

    private func tell(_ event: NeighbourhoodEvent) {
        switch event {
        case .ready(let peer): delegate?.peerReady(peer)
        case .received(let event, let peer, _): delegate?.peer(peer, did: event)
        case .claimed(let claim, let peer):
            if delegate?.received(claim, from: peer) == true { neighbourhood.passOn(now: loop.now) }
        case .gone(let peer, _, let end): delegate?.peerGone(peer, end)
        }
    }

    private func dial(_ id: LinkID, _ address: NetworkAddress) {
        do {
            let source = configuration.sourceAddress.map { NetworkAddress(host: $0.host, port: 0) }
            watch(try TCPConnection(loop: loop, to: address, from: source), id)
        } catch {
            neighbourhood.lost(id, code: error.rawValue, now: loop.now)
        }
    }

    private func accept(_ connection: TCPConnection) {
        let now = loop.now
        guard !isClosed, let address = connection.remoteAddress,
            let id = neighbourhood.accept(from: address, now: now, environment: &transports)
        else { return connection.close() }
        watch(connection, id)
        opened(id)
    }

    private func watch(_ connection: TCPConnection, _ id: LinkID) {
        transports[id] = connection
        connection.onOpen = { [weak self] in self?.opened(id) }
        connection.onRead = { [weak self] bytes in self?.receive(bytes, on: id) }
        connection.onDrain = { [weak self] in self?.drained(id) }
        connection.onClose = { [weak self] error in self?.lost(id, error) }
    }

    private func opened(_ id: LinkID) {
        transports[id]?.setNotSentLowWater(Self.notSentLowWater)
        transports[id]?.startReading()
        neighbourhood.opened(id, now: loop.now)
        drive()
    }

    private func receive(_ bytes: RawSpan, on id: LinkID) {
        neighbourhood.receive(bytes, on: id, now: loop.now)
        drive()
    }

    private func drained(_ id: LinkID) {
        neighbourhood.drained(id)
        drive()
    }

    private func lost(_ id: LinkID, _ error: LoopError) {
        transports[id] = nil
        neighbourhood.lost(id, code: error.rawValue, now: loop.now)
        drive()
    }

    private func close(_ id: LinkID, lingers: Bool) {
        guard let connection = transports[id] else { return }
        transports[id] = nil
        if lingers, !isClosed { lingering.insert(connection) } else { connection.close() }
    }
}
