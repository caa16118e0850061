import CoreModel
import Cryptography
import Foundation
import SwarmProtocol
import Testing

/// The vectors that the implementation in Python wrote from the protocol document (`Python/vectors.py`).
struct GoldenVectors: Decodable {
    struct Sides<Value: Decodable>: Decodable {
        let initiator: Value
        let responder: Value
    }

    struct NamedFrame: Decodable {
        let name: String
        let bytes: String
    }

    struct RecordedLink: Decodable {
        let pattern: String
        let initiator: String
        let responder: String
    }

    let swarm: String
    let seeds: Sides<String>
    let ephemeralSeeds: Sides<String>
    let certificates: Sides<String>
    let ports: Sides<UInt16>
    let frames: [NamedFrame]
    let links: [RecordedLink]

    static func load() throws -> GoldenVectors {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors/link.json")
        return try JSONDecoder().decode(GoldenVectors.self, from: Data(contentsOf: file))
    }
}

/// A generator that gives one byte over and over: the ephemeral seeds of the vectors.
private struct ConstantGenerator: RandomNumberGenerator {
    let byte: UInt8
    mutating func next() -> UInt64 { UInt64(byte) * 0x0101_0101_0101_0101 }
}

@Suite struct GoldenVectorTests {
    @Test func framesAreWrittenAsTheDocumentSays() throws {
        let vectors = try GoldenVectors.load()
        #expect(vectors.frames.count == FrameCodecTests.samples.count)
        for (vector, sample) in zip(vectors.frames, FrameCodecTests.samples) {
            #expect(Hexadecimal.encode(sample.encoded) == vector.bytes, "\(vector.name)")
            let bytes = try #require(Hexadecimal.decode(vector.bytes))
            var reader = WireReader(bytes)
            #expect(try Frame(reading: &reader) == sample)
        }
    }

    @Test(arguments: ["ik", "xx"])
    func linksSayTheSameBytes(pattern: String) throws {
        let vectors = try GoldenVectors.load()
        let recorded = try #require(vectors.links.first { $0.pattern == pattern })
        let suite = SystemCryptoSuite()
        func identity(
            _ value: KeyPath<GoldenVectors, GoldenVectors.Sides<String>>,
            _ side: KeyPath<GoldenVectors.Sides<String>, String>, _ port: UInt16
        ) throws -> LinkIdentity {
            let seedBytes = try #require(Hexadecimal.decode(vectors.seeds[keyPath: side]))
            let seed = try #require(Bytes32(seedBytes))
            let swarmBytes = try #require(Hexadecimal.decode(vectors.swarm))
            return LinkIdentity(
                suite: suite, key: suite.agreementKey(seed: seed),
                certificate: try #require(Hexadecimal.decode(vectors[keyPath: value][keyPath: side])),
                swarm: try #require(SwarmID(swarmBytes)), uploads: true,
                listenPort: port)
        }
        let one = try identity(\.certificates, \.initiator, vectors.ports.initiator)
        let other = try identity(\.certificates, \.responder, vectors.ports.responder)
        let start = MonotonicInstant.origin.advanced(by: .seconds(1))
        var generator = ConstantGenerator(byte: 0x33)
        var initiator = PeerLink(
            connectingTo: pattern == "ik" ? other.peerID : nil, identity: one, now: start, using: &generator)
        generator = ConstantGenerator(byte: 0x44)
        var responder = PeerLink(acceptingWith: other, now: start, using: &generator)
        let source = TestSource()
        source.chunks[root(0x11)] = [0: [1, 2, 3, 4, 5]]
        var said: (initiator: [UInt8], responder: [UInt8]) = ([], [])
        var hasAsked = false
        for _ in 0..<10 {
            Self.drain(&initiator, source, to: &responder, &said.initiator, now: start)
            Self.drain(&responder, source, to: &initiator, &said.responder, now: start)
            if initiator.isEstablished, responder.isEstablished, !hasAsked {
                hasAsked = true
                initiator.request(
                    ChunkRequest(
                        id: ChunkRequestID(rawValue: 7), root: root(0x11), chunks: 0..<1, timeLeft: .seconds(5),
                        wantsLeaves: false), now: start)
            }
        }
        #expect(Hexadecimal.encode(said.initiator) == recorded.initiator)
        #expect(Hexadecimal.encode(said.responder) == recorded.responder)
    }

    private static func drain(
        _ link: inout PeerLink, _ source: TestSource, to other: inout PeerLink, _ said: inout [UInt8],
        now: MonotonicInstant
    ) {
        while true {
            switch link.poll(now: now, writable: .max, source: source) {
            case .transmit(let bytes):
                said += bytes
                other.receive(bytes.span.bytes, now: now)
            case .event(.candidate): link.admit(now: now)
            case .event: break
            case .wait: return
            }
        }
    }
}
