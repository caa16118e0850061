import CoreModel
import Cryptography
import Testing

struct SigningTests {
    private let suite = SystemCryptoSuite()

    struct Vector: Sendable, CustomTestStringConvertible {
        var seed: String
        var publicKey: String
        var message: String
        var signature: String
        var testDescription: String { "\(message.count / 2) bytes" }
    }

    /// RFC 8032, section 7.1, tests 1 to 3.
    static let vectors: [Vector] = [
        Vector(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155\
                5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
                """),
        Vector(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """),
        Vector(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """),
    ]

    @Test(arguments: vectors)
    func `Ed25519 gives the published keys and signatures`(vector: Vector) {
        let key = suite.signingKey(seed: bytes32(vector.seed))
        #expect(key.verificationKey.description == vector.publicKey)
        let signature = key.sign(bytes(vector.message))
        #expect(Hexadecimal.encode(signature.bytes) == vector.signature)
        #expect(suite.isValid(signature, of: bytes(vector.message), by: key.verificationKey))
    }

    @Test func `A flipped bit anywhere is refused`() {
        let key = Ed25519SigningKey()
        let message = Array("a message".utf8)
        let signature = key.sign(message)
        for bit in 0..<message.count * 8 {
            var altered = message
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!suite.isValid(signature, of: altered, by: key.verificationKey))
        }
        for bit in 0..<512 {
            var altered = signature.bytes
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!suite.isValid(Signature(altered)!, of: message, by: key.verificationKey))
        }
        #expect(!suite.isValid(signature, of: message, by: Ed25519SigningKey().verificationKey))
    }

    /// The points of order 1, 2, 4 and 8, and encodings of a coordinate that is not below p.
    @Test(arguments: [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ])
    func `A key of small order or in a second spelling never verifies`(key: String) {
        // With A of small order, R = identity and S = 0 satisfy the equation for many messages.
        let identity = bytes32("0100000000000000000000000000000000000000000000000000000000000000")
        let forged = Signature(first: identity, second: .zero)
        for number in 0..<16 {
            #expect(!suite.isValid(forged, of: [UInt8(number)], by: VerificationKey(bytes32(key))))
        }
    }

    @Test func `A signature whose S is not reduced is refused`() throws {
        let key = Ed25519SigningKey()
        let signature = key.sign([1])
        // L, little-endian: S + L is the same number modulo L.
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var sum: [UInt8] = []
        var carry = 0
        for (a, b) in zip(signature.second.bytes, order) {
            let digit = Int(a) + Int(b) + carry
            sum.append(UInt8(digit & 255))
            carry = digit >> 8
        }
        let second = try #require(Bytes32(sum))
        #expect(!suite.isValid(Signature(first: signature.first, second: second), of: [1], by: key.verificationKey))
    }

    @Test func `Random keys differ`() {
        #expect(Ed25519SigningKey().verificationKey != Ed25519SigningKey().verificationKey)
        #expect(SystemRandom.bytes(32) != SystemRandom.bytes(32))
        #expect(SystemRandom.bytes(0).isEmpty)
        #expect(SystemRandom.bytes16() != SystemRandom.bytes16())
    }
}
