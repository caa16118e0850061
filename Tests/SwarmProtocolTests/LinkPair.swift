import CoreModel
import Cryptography
import SwarmProtocol

/// Chunks that a test side can upload.
final class TestSource: ChunkSource {
    var chunks: [Digest: [Int: [UInt8]]] = [:]
    var expected: [Digest: Set<Int>] = [:]
    var leafLists: [Digest: [Int: [Digest]]] = [:]
    var lookUps = 0
    /// Chunks that have to be brought back.
    var stored: [Digest: Set<Int>] = [:]
    /// What was asked back, and whether that is refused.
    var broughtBack: [Range<Int>] = []
    var bringsNothingBack = false

    func availability(ofChunk chunk: Int, root: Digest) -> ChunkAvailability {
        lookUps += 1
        if stored[root]?.contains(chunk) == true { return .stored }
        if let bytes = chunks[root]?[chunk] { return .available(bytes[...]) }
        return expected[root]?.contains(chunk) == true ? .expected : .unavailable
    }

    func bringBack(_ chunks: Range<Int>, root: Digest) -> Bool {
        if !bringsNothingBack { broughtBack.append(chunks) }
        return !bringsNothingBack
    }

    func leaves(ofStripe stripe: Int, root: Digest) -> [Digest]? { leafLists[root]?[stripe] }

    /// Puts a segment of full chunks there, with leaves that only look like some.
    func insert(_ root: Digest, chunks range: Range<Int>, byteCount: Int = SegmentGeometry.chunkByteCount) {
        for chunk in range {
            chunks[root, default: [:]][chunk] = [UInt8](repeating: UInt8(truncatingIfNeeded: chunk), count: byteCount)
            let stripe = chunk / SegmentGeometry.chunksPerStripe
            leafLists[root, default: [:]][stripe] = Array(repeating: root, count: SegmentGeometry.chunksPerStripe)
        }
    }
}

/// A side of an emulated link, with what it was told.
struct TestSide {
    var link: PeerLink
    let source = TestSource()
    /// Bytes on their way to this side, with their arrival.
    var wire: [(at: MonotonicInstant, bytes: [UInt8])] = []
    var events: [LinkEvent] = []
    /// Whether certificates hold.
    var admits = true
    var writable = Int.max
    var deadline: MonotonicInstant?
    /// Messages that this side handed to the transport.
    var transmissions: [[UInt8]] = []
}

/// Two links and a wire with a latency, in virtual time.
///
/// ``run(for:)`` goes from deadline to deadline; bytes are cut in portions drawn from the seed.
struct LinkPair {
    var initiator: TestSide
    var responder: TestSide
    var now = MonotonicInstant.origin.advanced(by: .seconds(1000))
    var latency: Duration = .milliseconds(20)
    var largestPortion = 65_536
    private var generator: SeededGenerator

    static let suite = SystemCryptoSuite()
    static let swarm = SwarmID([UInt8](repeating: 7, count: 20))!
    static let certificates = (
        initiator: [UInt8](repeating: 0xA1, count: 240), responder: [UInt8](repeating: 0xB2, count: 250)
    )

    static func identity(
        _ seed: UInt64, certificate: [UInt8], swarm: SwarmID = Self.swarm, uploads: Bool = true,
        configuration: LinkConfiguration = LinkConfiguration()
    ) -> LinkIdentity {
        LinkIdentity(
            suite: suite, key: suite.agreementKey(seed: Bytes32(words: (seed, 1, 2, 3))), certificate: certificate,
            swarm: swarm, uploads: uploads, listenPort: UInt16(seed), configuration: configuration)
    }

    init(
        pattern: NoisePattern, seed: UInt64 = 1, initiatorIdentity: LinkIdentity? = nil,
        responderIdentity: LinkIdentity? = nil
    ) {
        generator = SeededGenerator(seed: seed)
        let one = initiatorIdentity ?? Self.identity(11, certificate: Self.certificates.initiator)
        let other = responderIdentity ?? Self.identity(22, certificate: Self.certificates.responder)
        initiator = TestSide(
            link: PeerLink(
                connectingTo: pattern == .ik ? other.peerID : nil, identity: one, now: now, using: &generator))
        responder = TestSide(link: PeerLink(acceptingWith: other, now: now, using: &generator))
    }

    /// A pair that has said hello.
    static func established(_ pattern: NoisePattern = .ik, seed: UInt64 = 1) -> LinkPair {
        var pair = LinkPair(pattern: pattern, seed: seed)
        pair.run(for: .milliseconds(500))
        precondition(pair.initiator.link.isEstablished && pair.responder.link.isEstablished)
        pair.initiator.events = []
        pair.responder.events = []
        return pair
    }

    /// Has the initiator ask the responder.
    @discardableResult
    mutating func ask(
        _ id: UInt32, _ root: Digest, _ chunks: Range<Int>, timeLeft: Duration = .seconds(5), wantsLeaves: Bool = false
    ) -> Bool {
        let request = ChunkRequest(
            id: ChunkRequestID(rawValue: id), root: root, chunks: chunks, timeLeft: timeLeft, wantsLeaves: wantsLeaves)
        return initiator.link.request(request, now: now)
    }

    /// Lets the pair work for a span of virtual time.
    mutating func run(for span: Duration) {
        let end = now.advanced(by: span)
        var steps = 0
        while true {
            drain(\.initiator, to: \.responder)
            drain(\.responder, to: \.initiator)
            let next =
                [initiator.deadline, responder.deadline, initiator.wire.first?.at, responder.wire.first?.at]
                .compactMap { $0 }.min() ?? .distantFuture
            guard next <= end else { break }
            steps += 1
            precondition(steps < 200_000, "the pair never rests")
            now = max(now, next)
            deliver(to: \.initiator)
            deliver(to: \.responder)
        }
        now = end
    }

    private mutating func deliver(to side: WritableKeyPath<LinkPair, TestSide>) {
        while let first = self[keyPath: side].wire.first, first.at <= now {
            self[keyPath: side].wire.removeFirst()
            var rest = first.bytes[...]
            while !rest.isEmpty {
                let portion = rest.prefix(Int.random(in: 1...largestPortion, using: &generator))
                rest = rest.dropFirst(portion.count)
                self[keyPath: side].link.receive(portion.span.bytes, now: now)
                drain(\.initiator, to: \.responder)
                drain(\.responder, to: \.initiator)
            }
        }
    }

    private mutating func drain(
        _ from: WritableKeyPath<LinkPair, TestSide>, to: WritableKeyPath<LinkPair, TestSide>
    ) {
        while true {
            let writable = self[keyPath: from].writable
            let source = self[keyPath: from].source
            switch self[keyPath: from].link.poll(now: now, writable: writable, source: source) {
            case .transmit(let bytes):
                self[keyPath: from].transmissions.append(bytes)
                self[keyPath: to].wire.append((now.advanced(by: latency), bytes))
            case .event(let event):
                self[keyPath: from].events.append(event)
                if case .candidate = event {
                    if self[keyPath: from].admits {
                        self[keyPath: from].link.admit(now: now)
                    } else {
                        self[keyPath: from].link.refuse(.certificate)
                    }
                }
            case .wait(let deadline):
                self[keyPath: from].deadline = deadline
                return
            }
        }
    }
}

extension TestSide {
    var end: LinkEnd? {
        for case .closed(let end) in events { return end }
        return nil
    }

    var chunks: [Int] {
        events.compactMap { event in
            if case .chunk(_, _, let chunk, _) = event { chunk } else { nil }
        }
    }

    var rejects: [(Range<Int>, RejectReason)] {
        events.compactMap { event in
            if case .rejected(_, _, let chunks, let reason, _) = event { (chunks, reason) } else { nil }
        }
    }

    var timeouts: [[Range<Int>]] {
        events.compactMap { event in
            if case .requestTimedOut(_, _, let chunks) = event { chunks } else { nil }
        }
    }
}

/// A root that stands for a segment.
func root(_ number: UInt8) -> Digest { Digest([UInt8](repeating: number, count: 32))! }
