import CoreModel
import Integrity
import Testing

struct RecordTests {
    private let bytes = Fixtures.bytes(300_000)

    @Test func `A record survives its encoding`() throws {
        let segment = Fixtures.signed(bytes)
        #expect(try SignedSegment(decoding: segment.encoded[...]) == segment)
        #expect(segment.encoded.count == 104 + 1 + 88 + 3 * 32)
        let small = Fixtures.signed([1])
        #expect(small.encoded.count == 104 + 1 + 88)
        #expect(try SignedSegment(decoding: small.encoded[...]) == small)
    }

    @Test func `Every truncation and every trailing byte is refused`() {
        let encoded = Fixtures.signed(bytes).encoded
        for count in 0..<encoded.count {
            #expect(throws: WireError.self) { try SignedSegment(decoding: encoded[..<count]) }
        }
        #expect(throws: WireError.trailing(byteCount: 1)) { try SignedSegment(decoding: (encoded + [0])[...]) }
    }

    @Test func `Any altered byte is refused`() throws {
        let encoded = Fixtures.signed(bytes).encoded
        for index in encoded.indices {
            for mask in [1, 0x80, 0xFF] as [UInt8] {
                var altered = encoded
                altered[index] ^= mask
                guard let segment = try? SignedSegment(decoding: altered[...]) else { continue }
                #expect(throws: RecordError.self, "byte \(index)") {
                    try Fixtures.policy().verify(segment, now: Fixtures.now, suite: suite)
                }
            }
        }
    }

    @Test func `Counts and lengths out of range are refused`() throws {
        let encoded = Fixtures.signed(bytes).encoded
        func refused(_ offset: Int, _ values: [UInt8]) -> WireError? {
            var altered = encoded
            altered.replaceSubrange(offset..<offset + values.count, with: values)
            do {
                _ = try SignedSegment(decoding: altered[...])
                return nil
            } catch { return error }
        }
        #expect(refused(0, [2]) == .invalid(field: "record version"))
        #expect(refused(29, [2]) == .invalid(field: "position kind"))
        #expect(refused(56, [0x80]) == .invalid(field: "duration"))
        #expect(refused(64, [0, 0, 0, 0]) == .invalid(field: "duration"))
        #expect(refused(68, [0, 0, 0, 0]) == .invalid(field: "byte count"))
        #expect(refused(68, [4, 0, 0, 1]) == .invalid(field: "byte count"))
        #expect(refused(68, [4, 0, 0, 0]) == .truncated(needed: 512 * 32, available: 96))
        #expect(refused(104, [0]) == .invalid(field: "signature count"))
        #expect(refused(104, [9]) == .tooLarge(field: "signature count", value: 9, limit: 8))
        #expect(refused(113, [0xFF]) == .invalid(field: "issued"))
    }

    @Test func `The policy tells apart why it refuses`() throws {
        let policy = Fixtures.policy()
        let segment = Fixtures.signed(bytes)
        #expect(try policy.verify(segment, now: Fixtures.now, suite: suite).root == segment.statement.root)

        let foreign = SegmentName(
            stream: StreamIdentity.stream(named: "other", suite: suite), rendition: RenditionKey(rawValue: 5),
            position: SegmentPosition(number: 1))
        #expect(throws: RecordError.foreignStream(foreign.stream)) {
            try policy.verify(Fixtures.signed(bytes, name: foreign), now: Fixtures.now, suite: suite)
        }
        #expect(throws: RecordError.unknownAuthority) {
            try policy.verify(
                Fixtures.signed(bytes, key: Fixtures.key(.authority, 7)), now: Fixtures.now, suite: suite)
        }
        for offset in [-3661, 3661] {
            #expect(throws: RecordError.expired) {
                try policy.verify(segment, now: Fixtures.now + .seconds(offset), suite: suite)
            }
        }
        for offset in [-3660, 3660] {
            #expect(throws: Never.self) {
                try policy.verify(segment, now: Fixtures.now + .seconds(offset), suite: suite)
            }
        }
        let other = Fixtures.tree(Fixtures.bytes(299_000))
        let swapped = try #require(SignedSegment(record: segment.record, stripeLayer: other.stripeLayer))
        #expect(throws: RecordError.wrongLayer) { try policy.verify(swapped, now: Fixtures.now, suite: suite) }

        var dropping = policy
        dropping.drop(Fixtures.authority.id)
        #expect(throws: RecordError.unknownAuthority) { try dropping.verify(segment, now: Fixtures.now, suite: suite) }
    }

    @Test func `A threshold wants that many keys over the same statement`() throws {
        let keys = (1...3).map { Fixtures.key(.authority, $0) }
        let policy = Fixtures.policy(keys, threshold: 2)
        let one = Fixtures.signed(bytes, key: keys[0])
        let two = Fixtures.signed(bytes, key: keys[1])
        let stranger = Fixtures.signed(bytes, key: Fixtures.key(.authority, 8))
        #expect(throws: RecordError.tooFewSignatures(agreeing: 1, required: 2)) {
            try policy.verify(one, now: Fixtures.now, suite: suite)
        }
        let mixed = try #require(
            one.record.merged(with: stranger.record).flatMap {
                SignedSegment(record: $0, stripeLayer: one.stripeLayer)
            })
        #expect(throws: RecordError.tooFewSignatures(agreeing: 1, required: 2)) {
            try policy.verify(mixed, now: Fixtures.now, suite: suite)
        }
        let both = try #require(
            one.record.merged(with: two.record).flatMap { SignedSegment(record: $0, stripeLayer: one.stripeLayer) })
        #expect(throws: Never.self) { try policy.verify(both, now: Fixtures.now, suite: suite) }
        #expect(
            SegmentRecord(statement: one.statement, signatures: one.record.signatures + one.record.signatures) == nil)
        #expect(SegmentRecord(statement: one.statement, signatures: []) == nil)
        // The same key twice in the bytes is refused as well.
        var doubled = one.encoded
        doubled[104] = 2
        doubled.insert(contentsOf: one.encoded[105..<193], at: 193)
        #expect(throws: WireError.invalid(field: "signature order")) { try SignedSegment(decoding: doubled[...]) }
    }

    @Test func `Two roots under one name by one key are a proof`() throws {
        let first = Fixtures.signed(bytes)
        let second = Fixtures.signed(Fixtures.bytes(200_000))
        let key = Fixtures.authority.verificationKey
        let proof = try #require(EquivocationProof(first.record, second.record))
        #expect(proof.isValid(by: key, suite: suite))
        #expect(!proof.isValid(by: Fixtures.key(.authority, 2).verificationKey, suite: suite))
        #expect(EquivocationProof(first.record, first.record) == nil)
        #expect(EquivocationProof(first.record, Fixtures.signed(bytes, name: Fixtures.name(2)).record) == nil)
        #expect(
            EquivocationProof(
                first.record, Fixtures.signed([1], key: Fixtures.key(.authority, 2)).record) == nil)
        let moved = Fixtures.signed([1], name: Fixtures.name(1, epoch: 1))
        #expect(EquivocationProof(first.record, moved.record) == nil, "another epoch is another name")
    }

    @Test func `A forged half makes no proof`() throws {
        let first = Fixtures.signed(bytes)
        let statement = Fixtures.signed([1]).statement
        let forged = try #require(SegmentRecord(statement: statement, signatures: first.record.signatures))
        let proof = try #require(EquivocationProof(first.record, forged))
        #expect(!proof.isValid(by: Fixtures.authority.verificationKey, suite: suite))
    }
}
