package import CoreModel
import Cryptography
package import EventLoop
package import Integrity
package import SwarmProtocol

/// A viewer's links to other viewers: listens, dials, checks certificates, bans, passes on peers and claims, and holds
/// uploads to their caps. Confined to the loop.
///
/// Nothing happens before ``join(certificate:key:)``: without a certificate there is no identity to show. Bytes that come
/// from peers go to the delegate unverified; it verifies them and answers with ``ban(_:)`` when they are provably bad.
package final class PeerManager {
    /// Who is told of peers and what they send.
    package weak var delegate: (any PeerManagerDelegate)?
    /// Where uploads come from.
    package let source: any ChunkSource
    /// The tracker keys whose certificates are trusted.
    package var membershipKeys: [VerificationKey]
    /// Whether a tracker answers. While none does, certificates that have run out are accepted for some hours.
    package var isTrackerAnswering = true
    /// Peers that were banned.
    package internal(set) var bans = BanList()
    /// Certificates that were refused, by why: the figure behind a swarm that doesn't come together.
    package internal(set) var refusedCertificateCount = 0
    /// The caps on upload; a new value holds from the next frame on.
    package var uploadCaps: UploadCaps {
        get { budget.caps }
        set { budget.caps = newValue }
    }

    let loop: EventLoop
    private(set) var configuration: PeerManagerConfiguration
    let suite: any CryptoSuite
    let swarm: SwarmID
    let wallClock: () -> UnixTime
    var identity: LinkIdentity?
    var listener: TCPListener?
    /// Every connection, in the order of their coming.
    var connections: [PeerConnection] = []
    /// The established ones.
    var links: [PeerID: PeerConnection] = [:]
    var directory = PeerDirectory()
    var announcer = HoldingAnnouncer()
    var seenClaims = SeenSet()
    var claimers = ClaimLimiter()
    var handshakes = HandshakeLimiter()
    var budget: UploadBudget
    var downlink: TokenBucket
    var isChoking = false
    /// The connection whose turn it is to upload, while there is a cap on the rate.
    var uploading: PeerConnection?
    var isPumping = false
    var nextTurn = 0
    var pumpTimer: LoopTimer?
    var tickTimer: LoopTimer?
    /// Connections whose last frame is on its way, the oldest first.
    var lingering: [(connection: TCPConnection, end: MonotonicInstant)] = []
    var lingerTimer: LoopTimer?
    var isClosed = false
    /// Jitter and choice of peers to pass on; nothing secret.
    var generator: SeededGenerator
    /// What ended links have moved.
    var endedStatistics = LinkStatistics()

    /// Makes a manager that waits for its certificate.
    ///
    /// - Parameter wallClock: The time that certificates are checked against.
    package init(
        loop: EventLoop, configuration: PeerManagerConfiguration, swarm: SwarmID, membershipKeys: [VerificationKey],
        source: any ChunkSource, suite: any CryptoSuite = SystemCryptoSuite(), wallClock: @escaping () -> UnixTime
    ) {
        self.loop = loop
        self.configuration = configuration
        self.swarm = swarm
        self.membershipKeys = membershipKeys
        self.source = source
        self.suite = suite
        self.wallClock = wallClock
        budget = UploadBudget(caps: configuration.uploadCaps, now: loop.now)
        downlink = TokenBucket(capacity: 0, now: loop.now)
        var system = SystemRandom()
        generator = SeededGenerator(seed: system.next())
        pumpTimer = LoopTimer(loop: loop) { [weak self] in self?.pump() }
        tickTimer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
        lingerTimer = LoopTimer(loop: loop) { [weak self] in self?.endLingering() }
    }

    deinit { for connection in connections { connection.abandon() } }

    /// Establishes no more links than this, and never more than before; those that are there stay.
    package func limitLinks(to count: Int) {
        configuration.maximumLinkCount = min(configuration.maximumLinkCount, count)
        configuration.maximumOutgoingLinkCount = min(configuration.maximumOutgoingLinkCount, count)
    }

    // MARK: State

    /// Where this side listens; `nil` before ``listen()`` or when it does not.
    package var listenAddress: NetworkAddress? { listener?.localAddress }

    /// The established links' peers, in the order of their coming.
    package var peers: [ReadyPeer] { connections.compactMap(Self.readyPeer) }

    /// What all links have moved, also those that ended.
    package var statistics: LinkStatistics {
        connections.reduce(into: endedStatistics) { $0 += $1.link.statistics }
    }

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
        loop.checkIsolated()
        precondition(certificate.peer.publicKey == key.publicKey, "a certificate for another key")
        identity = LinkIdentity(
            suite: suite, key: key, certificate: certificate.encoded, swarm: swarm, uploads: configuration.uploads,
            listenPort: listener?.localAddress?.port ?? 0, configuration: configuration.link)
        tick()
    }

    /// Says goodbye to everybody and stops listening. The delegate is told of nothing any more.
    package func close() {
        loop.checkIsolated()
        guard !isClosed else { return }
        isClosed = true
        delegate = nil
        listener?.close()
        listener = nil
        for connection in connections { connection.close(.leaving) }
        for connection in connections { connection.abandon() }
        for (connection, _) in lingering { connection.close() }
        connections = []
        lingering = []
        links = [:]
        lingerTimer?.cancel()
        pumpTimer?.cancel()
        tickTimer?.cancel()
    }

    // MARK: Peers

    /// Takes note of a peer that a tracker named.
    package func add(_ peer: PeerID, at address: NetworkAddress) {
        loop.checkIsolated()
        guard peer != identity?.peerID, !bans.contains(peer), address.port != 0, isAllowed(address) else { return }
        directory.insert(peer, at: address, from: .tracker, now: loop.now)
        tick()
    }

    /// Opens a link to an address whose owner is not known: the handshake is XX.
    package func connect(to address: NetworkAddress) {
        loop.checkIsolated()
        guard isAllowed(address) else { return }
        dial(nil, at: address)
    }

    /// Drops a peer that sent provably bad bytes, for good: by its key and by the credential behind it.
    package func ban(_ peer: PeerID) {
        loop.checkIsolated()
        bans.insert(peer, pseudonym: links[peer]?.certificate?.pseudonym)
        directory.remove(peer)
        links[peer]?.close(.badData)
    }

    /// Drops a link that is of no use; its peer may come back.
    package func drop(_ peer: PeerID, _ code: ByeCode = .done) {
        loop.checkIsolated()
        links[peer]?.close(code)
    }

    // MARK: Requests

    /// Asks a peer for chunks; false when it is gone or its queue is full.
    package func request(_ request: ChunkRequest, from peer: PeerID) -> Bool {
        loop.checkIsolated()
        return links[peer]?.request(request) ?? false
    }

    /// Whether a request for this many chunks would be taken now.
    package func canRequest(chunkCount: Int, from peer: PeerID) -> Bool {
        links[peer]?.link.canRequest(chunkCount: chunkCount) ?? false
    }

    /// Takes a request back.
    package func cancel(_ id: ChunkRequestID, from peer: PeerID) {
        loop.checkIsolated()
        links[peer]?.cancel(id)
    }

    /// Asks a peer for the record of a name; false when it is gone or its table full.
    package func requestRecord(_ id: RecordRequestID, of name: SegmentName, from peer: PeerID) -> Bool {
        loop.checkIsolated()
        return links[peer]?.requestRecord(id, of: name) ?? false
    }

    /// Answers a peer's record request; empty bytes say that there is none here.
    package func answerRecord(_ id: RecordRequestID, with bytes: ArraySlice<UInt8>, to peer: PeerID) {
        loop.checkIsolated()
        links[peer]?.send(Frame.record(id, bytes).encoded)
    }

    /// Measures the round trip to a peer; ``LinkEvent/roundTrip(_:)`` follows.
    package func probe(_ peer: PeerID) {
        loop.checkIsolated()
        links[peer]?.probe()
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
        loop.checkIsolated()
        announcer.update(root: root, verified: verified, expected: expected, isComplete: isComplete)
        for connection in connections { connection.chunksAvailable(root: root, chunks: chunks) }
        flushHoldings()
    }

    /// Takes note that a segment was evicted.
    package func holdingsLost(root: Digest) {
        loop.checkIsolated()
        announcer.remove(root: root)
        for connection in connections { connection.chunksAvailable(root: root, chunks: 0..<WireLimits.chunkCount) }
        flushHoldings()
    }

    /// Spreads a claim of this viewer's.
    package func broadcast(_ claim: Claim) {
        loop.checkIsolated()
        let bytes = claim.encoded
        _ = seenClaims.insert(suite.sha256(bytes.span.bytes))
        let frame = Frame.claim(ClaimFrame(hopCount: 0, claim: bytes[...])).encoded
        for connection in connections { connection.send(frame) }
    }

    /// Takes note of bytes that came from elsewhere (the CDN): they count for the share of upload and, with a limited
    /// downlink, hold peers back.
    package func noteDownload(byteCount: Int) { _ = downloaded(byteCount, now: loop.now) }
}
