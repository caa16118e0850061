import CoreModel
import Cryptography
import SwarmProtocol
import Testing

/// A peer that has keys and no manners: it seals whatever bytes a test gives it.
struct HostilePeer {
    fileprivate var transport: NoiseTransport
    var link: PeerLink
    var now = MonotonicInstant.origin.advanced(by: .seconds(1000))
    var source = TestSource()
    private(set) var events: [LinkEvent] = []
    /// Frames that the link sent.
    private(set) var received: [Frame] = []

    /// Shakes hands as an honest initiator of IK and says hello.
    init(configuration: LinkConfiguration = LinkConfiguration()) throws {
        var generator = SeededGenerator(seed: 5)
        let victim = LinkPair.identity(
            22, certificate: LinkPair.certificates.responder, configuration: configuration)
        link = PeerLink(acceptingWith: victim, now: now, using: &generator)
        let preamble = LinkPreamble(pattern: .ik)
        var handshake = NoiseHandshake(
            pattern: .ik, role: .initiator, staticKey: LinkPair.suite.agreementKey(seed: Bytes32(words: (9, 9, 9, 9))),
            remoteKey: victim.peerID, prologue: preamble.prologue(swarm: LinkPair.swarm),
            ephemeralSeed: Bytes32(words: (8, 8, 8, 8)), suite: LinkPair.suite)
        let message = try handshake.writeMessage(payload: [1, 2, 3])
        let opening = preamble.bytes + UInt16(message.count).bigEndianBytes + message
        link.receive(opening.span.bytes, now: now)
        guard case .event(.candidate) = link.poll(now: now, writable: 0, source: source) else {
            throw LinkEnd.unsupported
        }
        link.admit(now: now)
        guard case .transmit(let answer) = link.poll(now: now, writable: 0, source: source) else {
            throw LinkEnd.unsupported
        }
        let length = Int(UInt16(bigEndianBytes: answer.prefix(2)))
        _ = try handshake.readMessage(answer[2..<2 + length])
        transport = handshake.transport()
        read(Array(answer[(2 + length)...]))
    }

    /// The same, with hello said and the greeting read.
    static func established(configuration: LinkConfiguration = LinkConfiguration()) throws -> HostilePeer {
        var peer = try HostilePeer(configuration: configuration)
        peer.send(
            .hello(HelloFrame(lowestVersion: 1, highestVersion: 1, flags: .uploads, listenPort: 1, queueLimit: 256)))
        precondition(peer.link.isEstablished)
        peer.events = []
        peer.received = []
        return peer
    }

    mutating func send(_ frames: Frame...) { send(plaintext: Array(frames.map(\.encoded).joined())) }

    /// Sends a message of any plaintext, and lets the link work.
    mutating func send(plaintext: [UInt8]) {
        var message: [UInt8] = UInt16(plaintext.count + 16).bigEndianBytes
        transport.seal(plaintext.span.bytes, [UInt8]().span.bytes, appendingTo: &message, suite: LinkPair.suite)
        send(raw: message)
    }

    mutating func send(raw bytes: [UInt8]) {
        link.receive(bytes.span.bytes, now: now)
        drain()
    }

    mutating func drain(writable: Int = .max) {
        while true {
            switch link.poll(now: now, writable: writable, source: source) {
            case .transmit(let bytes): read(bytes)
            case .event(let event): events.append(event)
            case .wait: return
            }
        }
    }

    var end: LinkEnd? {
        for case .closed(let end) in events { return end }
        return nil
    }

    private mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = Int(UInt16(bigEndianBytes: rest.prefix(2)))
            let message = rest.dropFirst(2).prefix(length)
            rest = rest.dropFirst(2 + length)
            var plaintext: [UInt8] = []
            precondition(transport.open(message.span.bytes, appendingTo: &plaintext, suite: LinkPair.suite))
            var reader = WireReader(plaintext)
            while reader.remaining > 0, let frame = try? Frame(reading: &reader) { received.append(frame) }
        }
    }
}

@Suite struct HostilePeerTests {
    static let data = Frame.data(
        DataFrame(id: ChunkRequestID(rawValue: 1), chunk: 0, payload: [UInt8](repeating: 1, count: 16_384)[...]))
    static let leaves = Frame.leaves(LeavesFrame(root: root(1), stripe: 0, leaves: [root(2)]))

    /// Asks the hostile peer for eight chunks.
    private func asked(wantsLeaves: Bool = false) throws -> HostilePeer {
        var peer = try HostilePeer.established()
        peer.ask(1, 0..<8, wantsLeaves: wantsLeaves)
        return peer
    }

    @Test func theFirstFrameMustBeHello() throws {
        for frame in [Frame.ping(1), Self.data, .unchoke, .request(Self.request(1, 0..<1))] {
            var peer = try HostilePeer()
            peer.send(frame)
            #expect(peer.end == .local(.protocolViolation))
            #expect(peer.received.last == .bye(.protocolViolation))
        }
    }

    @Test func aSecondHelloEndsTheLink() throws {
        var peer = try HostilePeer.established()
        peer.send(.hello(HelloFrame(lowestVersion: 1, highestVersion: 1, flags: [], listenPort: 0, queueLimit: 1)))
        #expect(peer.end == .local(.protocolViolation))
    }

    @Test func aCertificateInIKsHelloEndsTheLink() throws {
        var peer = try HostilePeer()
        peer.send(
            .hello(
                HelloFrame(
                    lowestVersion: 1, highestVersion: 1, flags: [], listenPort: 0, queueLimit: 1, certificate: [1])))
        #expect(peer.end == .local(.protocolViolation))
    }

    @Test func unsolicitedDataEndsTheLink() throws {
        var peer = try HostilePeer.established()
        peer.send(Self.data)
        #expect(peer.end == .local(.unsolicited))
        #expect(peer.received == [.bye(.unsolicited)])
        #expect(peer.events.count == 1, "the data is not told of")
    }

    @Test func dataTwiceEndsTheLink() throws {
        var peer = try asked()
        peer.send(Self.data)
        #expect(peer.end == nil)
        peer.send(Self.data)
        #expect(peer.end == .local(.unsolicited))
    }

    @Test func dataOutsideTheRequestEndsTheLink() throws {
        for chunk in [8, 63, 64, 4095] {
            var peer = try asked()
            peer.send(.data(DataFrame(id: ChunkRequestID(rawValue: 1), chunk: chunk, payload: [1])))
            #expect(peer.end == .local(.unsolicited))
        }
    }

    @Test func dataBeforeTheLeavesThatWereAskedForEndsTheLink() throws {
        var peer = try asked(wantsLeaves: true)
        peer.send(Self.data)
        #expect(peer.end == .local(.protocolViolation))
    }

    @Test func leavesThatNobodyAskedForEndTheLink() throws {
        var peer = try asked()
        peer.send(Self.leaves)
        #expect(peer.end == .local(.unsolicited))
        peer = try asked(wantsLeaves: true)
        peer.send(Self.leaves)
        #expect(peer.end == nil)
        peer.send(Self.leaves)
        #expect(peer.end == .local(.unsolicited))
        peer = try asked(wantsLeaves: true)
        peer.send(.leaves(LeavesFrame(root: root(1), stripe: 1, leaves: [root(2)])))
        #expect(peer.end == .local(.unsolicited))
    }

    @Test func leavesWithoutTheirChunkEndTheLink() throws {
        var peer = try asked(wantsLeaves: true)
        peer.send(Self.leaves)
        peer.send(.unchoke)
        #expect(peer.end == nil)
        peer.send(Self.data)
        #expect(peer.end == nil)
        peer = try asked(wantsLeaves: true)
        peer.ask(2, 8..<16, wantsLeaves: true)
        peer.send(Self.leaves)
        peer.send(.data(DataFrame(id: ChunkRequestID(rawValue: 2), chunk: 8, payload: [1])))
        #expect(peer.end == .local(.protocolViolation))
    }

    @Test func dataMustBeTheLastOfItsMessage() throws {
        var peer = try asked()
        peer.send(plaintext: Array([.unchoke, Self.data].map(\.encoded).joined()))
        #expect(peer.end == nil)
        for frames in [[Self.data, .unchoke], [Self.data, Self.data]] {
            peer = try asked()
            peer.send(plaintext: Array(frames.map(\.encoded).joined()))
            #expect(peer.end == .local(.protocolViolation))
        }
    }

    @Test func rejectsOfWhatIsNotOutstandingEndTheLink() throws {
        for (id, chunks) in [(2, 0..<1), (1, 0..<9), (1, 8..<9), (1, 100..<101)] as [(UInt32, Range<Int>)] {
            var peer = try asked()
            peer.send(
                .reject(RejectFrame(id: ChunkRequestID(rawValue: id), chunks: chunks, reason: .busy)))
            #expect(peer.end == .local(.unsolicited))
        }
    }

    @Test func recordsAndPongsThatNobodyAskedForEndTheLink() throws {
        var peer = try HostilePeer.established()
        peer.send(.record(RecordRequestID(rawValue: 1), [1]))
        #expect(peer.end == .local(.unsolicited))
        peer = try HostilePeer.established()
        peer.send(.pong(0))
        #expect(peer.end == .local(.unsolicited))
    }

    @Test func aRequestNumberInUseEndsTheLink() throws {
        var peer = try HostilePeer.established()
        peer.source.expected[root(1)] = [0]
        peer.send(.request(Self.request(1, 0..<1)))
        peer.send(.request(Self.request(1, 0..<1)))
        #expect(peer.end == .local(.protocolViolation))
    }

    @Test func theQueueIsBoundedAndPushingItEndsTheLink() throws {
        var peer = try HostilePeer.established()
        peer.source.expected[root(1)] = Set(0..<64)
        for number in 0..<4 { peer.send(.request(Self.request(UInt32(number), 0..<64))) }
        #expect(peer.received.isEmpty)
        peer.send(.request(Self.request(4, 0..<64)))
        guard case .reject(let reject) = peer.received.last else { return #expect(Bool(false)) }
        #expect(reject.reason == .busy && reject.chunks == 0..<64)
        var number: UInt32 = 5
        while peer.end == nil, number < 1000 {
            peer.send(.request(Self.request(number, 0..<64)))
            number += 1
        }
        #expect(peer.end == .local(.flood))
        #expect(number < 410)
    }

    @Test(arguments: [
        Frame.ping(1), .have([HaveEntry(root: root(1), change: .lost)]), .unchoke, .choke(retryAfter: .zero),
        .claim(ClaimFrame(hopCount: 0, claim: [1])),
        .peers([PeerEntry(address: NetworkAddress(ipv4: 1, port: 1), certificate: [1])]),
        .cancel(ChunkRequestID(rawValue: 7)),
    ])
    func aFloodOfAnyFrameEndsTheLink(frame: Frame) throws {
        var peer = try HostilePeer.established()
        var count = 0
        while peer.end == nil, count < 1000 {
            peer.send(frame)
            count += 1
        }
        #expect(peer.end == .local(.flood))
        // At the rate that the protocol document allows, nothing happens.
        peer = try HostilePeer.established()
        for _ in 0..<1000 {
            peer.now = peer.now.advanced(by: .milliseconds(500))
            peer.send(frame)
        }
        #expect(peer.end == nil)
    }

    @Test func aPeerThatReadsNothingIsBounded() throws {
        var configuration = LinkConfiguration()
        configuration.controlByteLimit = 10_000
        var peer = try HostilePeer.established(configuration: configuration)
        for _ in 0..<2000 where !peer.link.isOver { peer.link.send(.ping(1)) }
        let isOver = peer.link.isOver
        #expect(isOver)
    }

    @Test func alteredAndReplayedMessagesEndTheLinkSilently() throws {
        let plain = Frame.ping(7).encoded
        for index in 2..<2 + plain.count + 16 {
            var peer = try HostilePeer.established()
            var message = peer.sealed(plain)
            message[index] ^= 1
            peer.send(raw: message)
            #expect(peer.end == .notAuthentic)
            #expect(peer.received.isEmpty)
        }
        var peer = try HostilePeer.established()
        let message = peer.sealed(plain)
        peer.send(raw: message)
        peer.send(raw: message)
        #expect(peer.end == .notAuthentic)
    }

    @Test(arguments: [0, 1, 16, 18])
    func aMessageWithoutRoomForAFrameEndsTheLink(count: UInt16) throws {
        var peer = try HostilePeer.established()
        peer.send(raw: count.bigEndianBytes)
        #expect(peer.end == .local(.malformed))
    }

    @Test func nothingIsCollectedBehindAnUnansweredCertificate() throws {
        var generator = SeededGenerator(seed: 5)
        var pair = LinkPair(pattern: .ik)
        let source = TestSource()
        guard case .transmit(let opening) = pair.initiator.link.poll(now: pair.now, writable: 0, source: source) else {
            return #expect(Bool(false))
        }
        _ = generator.next()
        pair.responder.link.receive(opening.span.bytes, now: pair.now)
        let more = [UInt8](repeating: 0, count: 600)
        pair.responder.link.receive(more.span.bytes, now: pair.now)
        #expect(!pair.responder.link.isOver)
        pair.responder.link.receive(more.span.bytes, now: pair.now)
        #expect(pair.responder.link.isOver)
    }

    /// Every prefix and every altered byte of each kind of frame is either a frame or an error, and nothing traps.
    @Test(arguments: FrameCodecTests.samples)
    func everyDamagedFrameIsAnErrorOrAFrame(sample: Frame) throws {
        let bytes = Array(sample.encoded.prefix(600))
        for count in 0..<bytes.count {
            var reader = WireReader(Array(bytes.prefix(count)))
            #expect(throws: WireError.self) { _ = try Frame(reading: &reader) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var altered = bytes
                altered[index] ^= 1 << UInt8(bit)
                var reader = WireReader(altered)
                guard let frame = try? Frame(reading: &reader) else { continue }
                // What is understood is said again in the same bytes, but for limits that clamp.
                var again = WireReader(frame.encoded)
                #expect(try Frame(reading: &again) == frame)
            }
        }
    }

    static func request(_ id: UInt32, _ chunks: Range<Int>) -> ChunkRequest {
        ChunkRequest(
            id: ChunkRequestID(rawValue: id), root: root(1), chunks: chunks, timeLeft: .seconds(5), wantsLeaves: false)
    }
}

extension HostilePeer {
    /// Has the link ask this peer for chunks.
    mutating func ask(_ id: UInt32, _ chunks: Range<Int>, wantsLeaves: Bool) {
        ask(
            ChunkRequest(
                id: ChunkRequestID(rawValue: id), root: root(1), chunks: chunks, timeLeft: .seconds(5),
                wantsLeaves: wantsLeaves))
    }

    private mutating func ask(_ request: ChunkRequest) {
        link.request(request, now: now)
        drain()
    }

    mutating func sealed(_ plaintext: [UInt8]) -> [UInt8] {
        var message: [UInt8] = UInt16(plaintext.count + 16).bigEndianBytes
        transport.seal(plaintext.span.bytes, [UInt8]().span.bytes, appendingTo: &message, suite: LinkPair.suite)
        return message
    }
}
