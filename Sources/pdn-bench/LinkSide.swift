import CoreModel
import Cryptography
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

/// Carries a link's bytes over a connection. Confined to the loop.
class LinkSide {
    /// Unsent data that the socket may hold before the link must wait.
    private static let lowWater = 128 << 10

    var link: PeerLink?
    var connection: TCPConnection?

    static func identity(seed: UInt64) -> LinkIdentity {
        let suite = SystemCryptoSuite()
        return LinkIdentity(
            suite: suite, key: suite.agreementKey(seed: Bytes32(words: (seed, 1, 2, 3))), certificate: [1],
            swarm: SwarmID([UInt8](repeating: 7, count: 20))!, uploads: true, listenPort: 0)
    }

    func attach(_ connection: TCPConnection, link: PeerLink) {
        self.connection = connection
        self.link = link
        connection.onRead = { [unowned self] bytes in
            self.link?.receive(bytes, now: EventLoop.now)
            self.pump()
        }
        connection.onDrain = { [unowned self] in self.pump() }
        connection.startReading()
        pump()
    }

    func pump() {
        guard let connection else { return }
        while true {
            let writable = max(0, Self.lowWater - connection.queuedByteCount)
            guard let output = poll(writable: writable) else { return }
            switch output {
            case .transmit(let bytes): connection.write(bytes)
            case .event(.candidate): link?.admit(now: EventLoop.now)
            case .event(let event): handle(event)
            case .wait: return
            }
        }
    }

    func poll(writable: Int) -> LinkOutput? {
        link?.poll(now: EventLoop.now, writable: writable, source: NothingToUpload())
    }

    func handle(_ event: LinkEvent) {}
}

/// Answers requests.
final class Uploader: LinkSide {
    private let source: AssemblySource
    private var listener: TCPListener?

    init(segment: Segment) {
        var assembly = SegmentAssembly(segment: segment.verified, suite: SystemCryptoSuite())
        do {
            _ = try assembly.acceptTrusted(segment.bytes[...], at: 0)
        } catch {
            preconditionFailure("a segment's own bytes fit: \(error)")
        }
        source = AssemblySource(assembly: assembly)
    }

    /// Listens; the listener keeps this object.
    func listen(on loop: EventLoop, as identity: LinkIdentity) -> NetworkAddress? {
        var random = SystemRandom()
        do {
            let listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { connection in
                self.attach(connection, link: PeerLink(acceptingWith: identity, now: EventLoop.now, using: &random))
            }
            self.listener = listener
            return listener.localAddress
        } catch {
            return nil
        }
    }

    override func poll(writable: Int) -> LinkOutput? {
        link?.poll(now: EventLoop.now, writable: writable, source: source)
    }
}

/// Fetches a segment again and again, and verifies each chunk.
final class Downloader: LinkSide {
    private let segment: Segment
    private let rounds: Int
    private let onDone: () -> Void
    private var round = 0
    private var nextChunk = 0
    private var nextRequest: UInt32 = 0
    private var assembly: SegmentAssembly
    private var keepAlive: Downloader?
    /// The last segments, as a store keeps them: without it the allocator would give each segment's pages back to the system
    /// and fault them in anew, which a viewer's doesn't.
    private var store: [SegmentAssembly] = []

    /// Chunks of one request.
    private static let requestChunkCount = 32

    init(segment: Segment, rounds: Int, onDone: @escaping () -> Void) {
        self.segment = segment
        self.rounds = rounds
        self.onDone = onDone
        assembly = SegmentAssembly(segment: segment.verified, suite: SystemCryptoSuite())
    }

    func connect(
        on loop: EventLoop, to address: NetworkAddress, peer: PeerID, as identity: LinkIdentity, now: MonotonicInstant
    ) {
        var random = SystemRandom()
        keepAlive = self
        do {
            let connection = try TCPConnection(loop: loop, to: address)
            connection.onOpen = { [unowned self] in
                attach(
                    connection,
                    link: PeerLink(connectingTo: peer, identity: identity, now: EventLoop.now, using: &random))
            }
            self.connection = connection
        } catch {
            preconditionFailure("loopback refuses: \(error)")
        }
    }

    override func handle(_ event: LinkEvent) {
        switch event {
        case .established: ask()
        case .leaves(_, let stripe, let leaves): accept { try assembly.accept(leaves: leaves, stripe: stripe) }
        case .chunk(_, _, let chunk, let payload):
            accept { try assembly.accept(chunk: payload, at: chunk) }
            if assembly.isComplete {
                round += 1
                nextChunk = 0
                if round == rounds {
                    connection?.close()
                    keepAlive = nil
                    return onDone()
                }
                if store.count == 8 { store.removeFirst() }
                store.append(assembly)
                assembly = SegmentAssembly(segment: segment.verified, suite: SystemCryptoSuite())
            }
            ask()
        case .closed(let end): preconditionFailure("the link ended: \(end)")
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

    private func ask() {
        let chunkCount = segment.verified.geometry.chunkCount
        while nextChunk < chunkCount {
            let chunks = nextChunk..<min(nextChunk + Self.requestChunkCount, chunkCount)
            let request = ChunkRequest(
                id: ChunkRequestID(rawValue: nextRequest), root: segment.root, chunks: chunks, timeLeft: .seconds(10),
                wantsLeaves: true)
            guard link?.request(request, now: EventLoop.now) == true else { return }
            nextRequest &+= 1
            nextChunk = chunks.upperBound
        }
    }
}
