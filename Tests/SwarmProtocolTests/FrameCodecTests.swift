import CoreModel
import SwarmProtocol
import Testing

@Suite struct FrameCodecTests {
    static let name = SegmentName(
        stream: StreamID(Bytes16(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)), epoch: 0x1011_1213,
        rendition: RenditionKey(rawValue: 0x1415_1617_1819_1A1B),
        position: SegmentPosition(
            kind: .initialization, section: 0x1C1D_1E1F_2021_2223, number: 0x2425_2627_2829_2A2B,
            byteOffset: 0x2C2D_2E2F_3031_3233, part: 0x3435))

    /// One of each kind, in the order of the golden vectors.
    static let samples: [Frame] = [
        .hello(
            HelloFrame(
                lowestVersion: 1, highestVersion: 2, flags: .uploads, listenPort: 6881, queueLimit: 256,
                certificate: [0xC0, 0xC1, 0xC2])),
        .have([
            HaveEntry(root: root(0x11), change: .lost), HaveEntry(root: root(0x22), change: .complete),
            HaveEntry(root: root(0x33), change: .replace(verified: [0..<8, 16..<17], expected: [8..<16])),
            HaveEntry(root: root(0x44), change: .add(verified: [], expected: [4088..<4096])),
        ]),
        .claim(ClaimFrame(hopCount: 3, claim: [0xE0, 0xE1, 0xE2])),
        .recordRequest(RecordRequestID(rawValue: 0x0102_0304), name),
        .record(RecordRequestID(rawValue: 0x0102_0304), [0xF0, 0xF1]),
        .leaves(LeavesFrame(root: root(0x11), stripe: 511, leaves: [root(0x55), root(0x66)])),
        .request(
            ChunkRequest(
                id: ChunkRequestID(rawValue: 7), root: root(0x11), chunks: 1000..<1064, timeLeft: .milliseconds(4321),
                wantsLeaves: true)),
        .data(DataFrame(id: ChunkRequestID(rawValue: 7), chunk: 1001, payload: [1, 2, 3, 4, 5])),
        .reject(
            RejectFrame(
                id: ChunkRequestID(rawValue: 7), chunks: 1002..<1010, reason: .late, retryAfter: .milliseconds(250))),
        .cancel(ChunkRequestID(rawValue: 7)),
        .choke(retryAfter: .seconds(3)),
        .unchoke,
        .peers([
            PeerEntry(address: NetworkAddress(ipv4: 0xC000_0201, port: 4433), certificate: [0xAA]),
            PeerEntry(
                address: NetworkAddress(host: Bytes16(high: 0x2001_0DB8_0000_0000, low: 1), port: 1),
                certificate: [0xBB, 0xCC]),
        ]),
        .ping(0xDEAD_BEEF),
        .pong(0xDEAD_BEEF),
        .bye(.leaving),
    ]

    @Test func eachFrameIsReadBackAsItWasWritten() throws {
        #expect(Set(Self.samples.map(\.type)).count == FrameType.allCases.count)
        for sample in Self.samples {
            var reader = WireReader(sample.encoded)
            #expect(try Frame(reading: &reader) == sample)
            #expect(reader.remaining == 0)
        }
    }

    struct Malformed: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let error: WireError

        init(_ description: String, _ type: UInt8, _ body: [UInt8], _ error: WireError) {
            testDescription = description
            bytes = [type] + UInt16(body.count).bigEndianBytes + body
            self.error = error
        }
    }

    static let id: [UInt8] = [0, 0, 0, 1]
    static let rootBytes = [UInt8](repeating: 1, count: 32)

    static let malformed: [Malformed] = [
        Malformed("no type 0", 0, [], .invalid(field: "frame type")),
        Malformed("no type 17", 17, [], .invalid(field: "frame type")),
        Malformed("bytes behind an unchoke", 12, [0], .trailing(byteCount: 1)),
        Malformed("a short cancel", 10, [0, 0, 1], .truncated(needed: 4, available: 3)),
        Malformed("version 0", 1, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], .invalid(field: "versions")),
        Malformed("versions upside down", 1, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0], .invalid(field: "versions")),
        Malformed(
            "a certificate of 301 bytes", 1, [1, 1, 0, 0, 0, 0, 0, 0, 1, 45] + [UInt8](repeating: 0, count: 301),
            .tooLarge(field: "certificate", value: 301, limit: 300)),
        Malformed("a have of nothing", 2, [0, 0], .invalid(field: "have entries")),
        Malformed("a have of 513", 2, [2, 1], .tooLarge(field: "have entries", value: 513, limit: 512)),
        Malformed("an unknown change", 2, [0, 1] + rootBytes + [4], .invalid(field: "have change")),
        Malformed("65 runs", 2, [0, 1] + rootBytes + [2, 65], .tooLarge(field: "have ranges", value: 65, limit: 64)),
        Malformed("an empty run", 2, [0, 1] + rootBytes + [2, 1, 0, 0, 0, 0], .invalid(field: "have range")),
        Malformed(
            "a run past the end", 2, [0, 1] + rootBytes + [2, 1, 0x0F, 0xFF, 0, 2], .invalid(field: "have range")),
        Malformed(
            "runs that touch", 2, [0, 1] + rootBytes + [2, 2, 0, 0, 0, 1, 0, 1, 0, 1], .invalid(field: "have range")),
        Malformed(
            "runs in the wrong order", 2, [0, 1] + rootBytes + [2, 2, 0, 5, 0, 1, 0, 1, 0, 1],
            .invalid(field: "have range")),
        Malformed("a claim of 8 hops", 3, [8, 0], .invalid(field: "claim hops")),
        Malformed("an empty claim", 3, [0], .invalid(field: "claim")),
        Malformed("a claim of 1025 bytes", 3, [UInt8](repeating: 0, count: 1026), .invalid(field: "claim")),
        Malformed(
            "a position of kind 2", 4, id + [UInt8](repeating: 0, count: 28) + [2] + [UInt8](repeating: 0, count: 26),
            .invalid(field: "position kind")),
        Malformed("no leaves", 6, rootBytes + [0, 0, 0], .invalid(field: "leaf count")),
        Malformed("nine leaves", 6, rootBytes + [0, 0, 9], .invalid(field: "leaf count")),
        Malformed("stripe 512", 6, rootBytes + [2, 0, 1], .invalid(field: "stripe")),
        Malformed("a request for nothing", 7, id + rootBytes + [0, 0, 0], .invalid(field: "chunks")),
        Malformed("a request for 65", 7, id + rootBytes + [0, 0, 65], .invalid(field: "chunks")),
        Malformed("a request past the end", 7, id + rootBytes + [0x0F, 0xFF, 2], .invalid(field: "chunks")),
        Malformed(
            "unknown request flags", 7, id + rootBytes + [0, 0, 1, 0, 0, 0, 1, 2], .invalid(field: "request flags")),
        Malformed("data of nothing", 8, id + [0, 0], .invalid(field: "chunk length")),
        Malformed(
            "data of 16,385", 8, id + [0, 0] + [UInt8](repeating: 0, count: 16_385), .invalid(field: "chunk length")),
        Malformed("reject reason 0", 9, id + [0, 0, 1, 0, 0, 0, 0, 0], .invalid(field: "reject reason")),
        Malformed("reject reason 7", 9, id + [0, 0, 1, 7, 0, 0, 0, 0], .invalid(field: "reject reason")),
        Malformed("no peers", 13, [0], .invalid(field: "peer count")),
        Malformed("33 peers", 13, [33], .invalid(field: "peer count")),
        Malformed("port 0", 13, [1] + [UInt8](repeating: 0, count: 18), .invalid(field: "peer port")),
        Malformed(
            "a peer without certificate", 13, [1] + [UInt8](repeating: 1, count: 18) + [0, 0],
            .invalid(field: "certificate")),
    ]

    @Test(arguments: malformed)
    func whatTheDocumentDoesNotAllowIsAnError(sample: Malformed) {
        var reader = WireReader(sample.bytes)
        #expect(throws: sample.error) { _ = try Frame(reading: &reader) }
    }

    @Test func spansAreClampedToTheirLimits() throws {
        let body: [UInt8] = Self.id + Self.rootBytes + [0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0]
        var reader = WireReader([7] + UInt16(body.count).bigEndianBytes + body)
        guard case .request(let request) = try Frame(reading: &reader) else { return #expect(Bool(false)) }
        #expect(request.timeLeft == .seconds(60))
    }

    @Test func anUnknownByeCodeIsStillAGoodbye() throws {
        var reader = WireReader([16, 0, 1, 0xEE])
        #expect(try Frame(reading: &reader) == .bye(.done))
    }
}
