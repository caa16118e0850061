import CoreModel
import Cryptography
import Foundation
import Integrity
import Testing

/// The byte layouts of Formats.md, against the file that Golden/make_vectors.py, a second implementation, wrote.
struct GoldenTests {
    struct Vectors: Decodable {
        var record, recordOfOneStripe, certificate, token, tokenWithSecret, claim, catalogue, swarm: String
        var authority, titleStream: String
        var draw: UInt64
    }

    private let vectors: Vectors

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Golden/vectors.json")
        vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
    }

    @Test func `Records`() throws {
        let segment = Fixtures.signed(Fixtures.bytes(300_000))
        #expect(Hexadecimal.encode(segment.encoded) == vectors.record)
        let keys = [Fixtures.authority, Fixtures.key(.authority, 6)]
        let single = keys.map { Fixtures.signed(Fixtures.bytes(1), key: $0) }
        let both = try #require(single[0].record.merged(with: single[1].record))
        let signed = try #require(SignedSegment(record: both, stripeLayer: single[0].stripeLayer))
        #expect(Hexadecimal.encode(signed.encoded) == vectors.recordOfOneStripe)
        let read = try SignedSegment(decoding: Hexadecimal.decode(vectors.recordOfOneStripe)![...])
        #expect(
            try Fixtures.policy(keys, threshold: 2).verify(read, now: Fixtures.now, suite: suite).signed == signed)
    }

    @Test func `Certificates, tokens and claims`() throws {
        let certificate = Fixtures.certificate(flags: .leechOnly)
        #expect(Hexadecimal.encode(certificate.encoded) == vectors.certificate)
        #expect(Hexadecimal.encode(Fixtures.token().encoded) == vectors.token)
        let secret = try ViewerToken(decoding: Hexadecimal.decode(vectors.tokenWithSecret)![...])
        #expect(secret.swarmSecret?.bytes == Array(0..<32))
        try secret.verify(
            trusting: [Fixtures.key(.token, 4).verificationKey], stream: Fixtures.stream, now: Fixtures.now,
            suite: suite)
        #expect(Hexadecimal.encode(secret.encoded) == vectors.tokenWithSecret)

        let root = suite.sha256(Array("root".utf8).span.bytes)
        let claim = Claim(
            root: root, certificate: certificate, sequence: 3, waitedMilliseconds: 250,
            assignments: [
                Claim.Assignment(owner: certificate.peer, stripes: 0..<2),
                Claim.Assignment(owner: PeerID(Bytes32([UInt8](repeating: 0xB2, count: 32))!), stripes: 2..<512),
            ], signedBy: Fixtures.key(.claim, 3))
        #expect(Hexadecimal.encode(claim.encoded) == vectors.claim)
        let draw = ElectionTicket.draw(nonce: certificate.nonce, segment: root, suite: suite)
        #expect(UInt64(draw * 0x1p53) == vectors.draw)
    }

    @Test func `Identifiers`() {
        let swarm = StreamIdentity.swarm(of: Fixtures.stream, secret: Array("secret".utf8), suite: suite)
        #expect(swarm.description == vectors.swarm)
        #expect(Fixtures.authority.verificationKey.description == vectors.authority)
        let titled = StreamIdentity.stream(
            authority: Fixtures.authority.verificationKey, title: "Title", suite: suite)
        #expect(titled.description == vectors.titleStream)
    }

    @Test func `Catalogues`() throws {
        let file = try #require(Hexadecimal.decode(vectors.catalogue))
        var reader = CatalogueReader(
            trusting: [Fixtures.authority.verificationKey], stream: Fixtures.stream, suite: suite)
        try reader.feed(file[...], now: Fixtures.now)
        #expect(reader.requiredRange == nil)
        let head = try #require(reader.head)
        #expect(head.title == "Tést" && head.epoch == 2 && head.recordCount == 19 && head.pageRecordCount == 8)
        let segments = try reader.takePages()
        #expect(segments.count == 19)
        for segment in segments {
            #expect(throws: Never.self) {
                try reader.policy?.verify(segment.signed, now: Fixtures.now, suite: suite)
            }
        }

        let writer = CatalogueWriter(
            stream: Fixtures.stream, epoch: 2, title: "Tést", renditions: reader.renditions.reversed(),
            issued: Fixtures.now, expires: Fixtures.now + .seconds(86400))
        let written = try writer.file(
            of: segments.map(\.signed).reversed(), signedBy: [Fixtures.authority], suite: suite)
        #expect(written == file)
    }
}
