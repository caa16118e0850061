import CoreModel
import Cryptography
import Testing

struct DigestTests {
    private let suite = SystemCryptoSuite()

    struct Vector: Sendable, CustomTestStringConvertible {
        var message: [UInt8]
        var digest: String
        var testDescription: String { "\(message.count) bytes" }
    }

    /// FIPS 180-4 (the examples that NIST publishes with it).
    static let sha256: [Vector] = [
        Vector(message: [], digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        Vector(
            message: Array("abc".utf8), digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        Vector(
            message: Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            digest: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        Vector(
            message: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
            digest: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test(arguments: sha256)
    func `SHA-256 gives the published digests`(vector: Vector) {
        #expect(suite.sha256(vector.message.span.bytes).description == vector.digest)
        #expect(suite.sha256(vector.message.span.bytes).description == vector.digest, "a used context starts anew")
    }

    @Test func `The digest of a pair is the digest of both side by side`() {
        let left = suite.sha256([UInt8(1)].span.bytes)
        let right = suite.sha256([UInt8(2)].span.bytes)
        #expect(suite.sha256(pair: left, right) == suite.sha256((left.bytes + right.bytes).span.bytes))
        #expect(suite.sha256(pair: left, right) != suite.sha256(pair: right, left))
    }

    /// RFC 7693, appendix A, and the empty message of the reference implementation.
    @Test func `BLAKE2b gives the published digests`() {
        #expect(
            suite.blake2b(Array("abc".utf8))
                == bytes(
                    """
                    ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
                    7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
                    """))
        #expect(
            suite.blake2b([])
                == bytes(
                    """
                    786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419
                    d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce
                    """))
    }

    struct Authentication: Sendable, CustomTestStringConvertible {
        var key: [UInt8]
        var message: [UInt8]
        var tag: String
        var testDescription: String { "key of \(key.count), message of \(message.count) bytes" }
    }

    /// Expectations by Python's `hmac` with `hashlib.blake2b`: a short key, one of exactly a block, one that is hashed.
    static let authentications: [Authentication] = [
        Authentication(
            key: Array("key".utf8), message: Array("The quick brown fox".utf8),
            tag: """
                5c169e8a18362381efbc0f688fa1d48e99f2bd5885a19c29943e28b43d566f33\
                0555d6c37a277cd4cbb1deca561f377c02f0d5388c6e1efd6e97de2bd8b2d678
                """),
        Authentication(
            key: Array(0..<128), message: [],
            tag: """
                e79ec585fc83408cd654da61cc87457edd77cae194e6e4727420fa21a001229e\
                d67f1fb7bb03effaaaec05d2d7902f98bfad11da65b4c08d197eefa96f314b31
                """),
        Authentication(
            key: Array(0..<200), message: [UInt8](repeating: 0, count: 1000),
            tag: """
                fc169d4882197654b06b37dd7f87645f33d75fb0c449787c9dde68c7ed987b06\
                12dfa7468d0d62bc41e21425606a43b0235d25de86975cbf8d89f6c380262eb5
                """),
    ]

    @Test(arguments: authentications)
    func `HMAC-BLAKE2b agrees with Python's`(vector: Authentication) {
        #expect(Hexadecimal.encode(suite.hmacBLAKE2b(key: vector.key, vector.message)) == vector.tag)
    }

    @Test func `Contexts belong to their thread`() async {
        let message = [UInt8](repeating: 7, count: 100_000)
        let expected = suite.sha256(message.span.bytes)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { (0..<50).allSatisfy { _ in self.suite.sha256(message.span.bytes) == expected } }
            }
            for await isEqual in group { #expect(isEqual) }
        }
    }
}
