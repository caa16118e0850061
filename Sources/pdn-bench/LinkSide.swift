import CoreModel
import Cryptography
import Delivery
import EventLoop
import Integrity
import SwarmProtocol

/// A segment of 4 MiB with its record, as both ends know it.
final class Segment: Sendable {
    let bytes: [UInt8]
    let verified: VerifiedSegment
    let root: Digest
    var byteCount: Int { bytes.count }

    init() {
        let suite = SystemCryptoSuite()
        bytes = (0..<4 << 20).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        var hasher = MerkleHasher(suite: suite)
        _ = hasher.update(bytes[...])
        let key = RoleKey(role: .authority, key: suite.signingKey(seed: .zero), suite: suite)
        let stream = StreamIdentity.stream(named: "bench", suite: suite)
        let now = UnixTime(seconds: 1_000_000)
        guard let tree = hasher.finish() else { preconditionFailure("a segment has a tree") }
        let signed = SignedSegment(
            name: SegmentName(
                stream: stream, rendition: RenditionKey(rawValue: 1),
                position: SegmentPosition(kind: .media, number: 1)),
            duration: MediaTime(seconds: 2), tree: tree, key: key, issued: now,
            expires: UnixTime(seconds: 2_000_000))
        let policy = AuthorityPolicy(stream: stream, keys: [key.verificationKey], suite: suite)
        do {
            verified = try policy.verify(signed, now: now, suite: suite)
        } catch {
            preconditionFailure("a record of one's own holds: \(error)")
        }
        root = tree.root
    }
}

/// What an uploader lends: the chunks of an assembly.
struct AssemblySource: ChunkSource {
    let assembly: SegmentAssembly

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        assembly.chunk(at: chunk).map { .available($0) } ?? .unavailable
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { assembly.leaves(ofStripe: stripe) }
}

/// A viewer without a player, its links the product's own. Confined to the loop.
class BenchPeer: PeerManagerDelegate {
    static let suite = SystemCryptoSuite()
    static let time = UnixTime(seconds: 1_000_000)
    private static let swarm = SwarmID([UInt8](repeating: 7, count: 20))!
    private static let membership = RoleKey(
        role: .membership, key: suite.signingKey(seed: Bytes32(words: (0, 0, 0, 1))), suite: suite)

    let manager: PeerManager
    /// Whether the measurement is over, so that the link may end with its loop.
    var isOver = false

    init(loop: EventLoop, number: UInt64, source: some ChunkSource, listeningAt address: NetworkAddress?) throws {
        let suite = Self.suite
        let key = Self.key(number)
        let claimKey = RoleKey(
            role: .claim, key: suite.signingKey(seed: Bytes32(words: (number, 8, 8, 8))), suite: suite)
        var configuration = PeerManagerConfiguration()
        configuration.listenAddress = address
        configuration.neighbourhood.uploadCaps.shareOfDownload = nil
        manager = PeerManager(
            loop: loop, configuration: configuration, swarm: Self.swarm,
            membershipKeys: [Self.membership.verificationKey], source: source, wallClock: { Self.time })
        manager.delegate = self
        try manager.listen()
        let certificate = MembershipCertificate(
            peer: PeerID(key.publicKey), claimKey: claimKey.verificationKey, swarm: Self.swarm,
            observedHost: NetworkAddress(ipv4: 0x7F00_0001, port: 0).host, pseudonym: Bytes16(high: 0, low: number),
            nonce: Bytes16(high: 1, low: number), notBefore: Self.time, expires: Self.time + .seconds(3600),
            signedBy: Self.membership)
        manager.join(certificate: certificate, key: key)
        // Kept until the process ends: it may only be released on its loop, and the loop is gone by then.
        _ = Unmanaged.passRetained(self)
    }

    private static func key(_ number: UInt64) -> any AgreementKey {
        suite.agreementKey(seed: Bytes32(words: (number, 7, 7, 7)))
    }

    static func name(_ number: UInt64) -> PeerID { PeerID(key(number).publicKey) }

    func peerReady(_ peer: ReadyPeer) {}
    func peer(_ peer: PeerID, did event: LinkEvent) {}
    func peerGone(_ peer: PeerID, _ end: PeerEnd) { precondition(isOver, "the link ended: \(end)") }
    func received(_ claim: Claim, from peer: PeerID) -> Bool { true }
}

/// Answers requests. Its number is 1.
final class Uploader: BenchPeer {
    init(loop: EventLoop, segment: Segment, at address: NetworkAddress) throws {
        var assembly = SegmentAssembly(segment: segment.verified, suite: Self.suite)
        _ = try assembly.acceptTrusted(segment.bytes[...], at: 0)
        try super.init(loop: loop, number: 1, source: AssemblySource(assembly: assembly), listeningAt: address)
    }

    override func peerGone(_ peer: PeerID, _ end: PeerEnd) {}
}

/// Fetches a segment again and again, and verifies each chunk.
class Downloader: BenchPeer {
    private let segment: Segment
    private let rounds: Int
    private let onDone: () -> Void
    private var round = 0
    private var nextChunk = 0
    private var nextRequest: UInt32 = 0
    private var assembly: SegmentAssembly
    /// The last segments, as a store keeps them: without it the allocator would give each segment's pages back to the
    /// system and fault them in anew, which a viewer's doesn't.
    private var store: [SegmentAssembly] = []

    /// Chunks of one request.
    private static let requestChunkCount = 32

    /// Makes a viewer that wants `rounds` times the segment.
    init(loop: EventLoop, segment: Segment, rounds: Int, onDone: @escaping () -> Void) throws {
        self.segment = segment
        self.rounds = rounds
        self.onDone = onDone
        assembly = SegmentAssembly(segment: segment.verified, suite: Self.suite)
        try super.init(loop: loop, number: 2, source: NothingToUpload(), listeningAt: nil)
    }

    func connect(to address: NetworkAddress) { manager.add(Self.name(1), at: address) }

    override func peerReady(_ peer: ReadyPeer) { ask() }

    override func peer(_ peer: PeerID, did event: LinkEvent) {
        switch event {
        case .leaves(_, let stripe, let leaves): accept { try assembly.accept(leaves: leaves, stripe: stripe) }
        case .chunk(_, _, let chunk, let payload):
            accept { try assembly.accept(chunk: payload, at: chunk) }
            if assembly.isComplete {
                round += 1
                nextChunk = 0
                if round == rounds {
                    isOver = true
                    return onDone()
                }
                if store.count == 8 { store.removeFirst() }
                store.append(assembly)
                assembly = SegmentAssembly(segment: segment.verified, suite: Self.suite)
            }
            ask()
        default: break
        }
    }

    private func accept(_ work: () throws -> some Any) {
        do {
            _ = try work()
        } catch {
            preconditionFailure("an honest peer's bytes hold: \(error)")
        }
    }

    func ask() {
        let chunkCount = segment.verified.geometry.chunkCount
        while nextChunk < chunkCount {
            let chunks = nextChunk..<min(nextChunk + Self.requestChunkCount, chunkCount)
            let request = ChunkRequest(
                id: ChunkRequestID(rawValue: nextRequest), root: segment.root, chunks: chunks, timeLeft: .seconds(60),
                wantsLeaves: true)
            guard manager.request(request, from: Self.name(1)) else { return }
            nextRequest &+= 1
            nextChunk = chunks.upperBound
        }
    }
}
