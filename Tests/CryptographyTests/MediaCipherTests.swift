import CoreModel
import Cryptography
import Foundation
import Testing

/// The plaintext of all examples of NIST SP 800-38A, appendix F.
private let plaintext = bytes(
    """
    6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710
    """)
private let shortKey = bytes("2b7e151628aed2a6abf7158809cf4f3c")
private let longKey = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
private let chainVector = bytes("000102030405060708090a0b0c0d0e0f")
private let counterVector = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")

private func makeKey(_ bytes: [UInt8]) throws -> ContentKey { try #require(ContentKey(bytes)) }

struct ResourceCipherTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var method: ResourceCipher.Method
        var ciphertext: String
        var testDescription: String { method.rawValue }
        var key: [UInt8] { method == .aes128 ? shortKey : longKey }
        var vector: [UInt8] { method == .aes256CTR ? counterVector : chainVector }
    }

    /// NIST SP 800-38A: F.2.1, F.2.5 and F.5.5.
    static let vectors = [
        Vector(
            method: .aes128,
            ciphertext: """
                7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
                73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7
                """),
        Vector(
            method: .aes256,
            ciphertext: """
                f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d
                39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b
                """),
        Vector(
            method: .aes256CTR,
            ciphertext: """
                601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
                2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6
                """),
    ]

    @Test(arguments: vectors, [1, 5, 16, 40, 64])
    func `The published examples decrypt, in whatever pieces they come`(example: Vector, pieceByteCount: Int) throws {
        let key = try #require(ContentKey(example.key))
        let cipher = try #require(ResourceCipher(example.method, key: key, vector: example.vector))
        var clear: [UInt8] = []
        var rest = bytes(example.ciphertext)[...]
        while !rest.isEmpty {
            clear += cipher.decrypt(rest.prefix(pieceByteCount))
            rest = rest.dropFirst(pieceByteCount)
        }
        if example.method == .aes256CTR {
            #expect(try clear + cipher.finish() == plaintext)
        } else {
            // The examples are not padded: the last block is held back, and then is no padding.
            #expect(clear == Array(plaintext.dropLast(16)))
            #expect(throws: ResourceCipher.Failure.badPadding) { try cipher.finish() }
        }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000])
    func `What openssl encrypts is decrypted, its padding taken off`(byteCount: Int) async throws {
        let message = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let encrypted = try await encrypt(message)
        let key = try makeKey(shortKey)
        #expect(encrypted.count == byteCount / 16 * 16 + 16)
        let cipher = try #require(ResourceCipher(.aes128, key: key, vector: chainVector))
        #expect(try cipher.decrypt(encrypted[...]) + cipher.finish() == message)
        // Playback begins before a segment is whole: all but one block is there with its bytes.
        let other = try #require(ResourceCipher(.aes128, key: key, vector: chainVector))
        #expect(other.decrypt(encrypted.dropLast(16)).count == max(0, encrypted.count - 32))
    }

    private func encrypt(_ message: [UInt8]) async throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "enc", "-aes-128-cbc", "-K", Hexadecimal.encode(shortKey), "-iv",
            Hexadecimal.encode(chainVector),
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(message))
        try input.fileHandleForWriting.close()
        let encrypted = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return [UInt8](encrypted)
    }

    @Test func `A message that ends inside a block, or is empty, is truncated`() throws {
        let key = try makeKey(shortKey)
        for count in [0, 1, 17, 31] {
            let cipher = try #require(ResourceCipher(.aes128, key: key, vector: chainVector))
            _ = cipher.decrypt([UInt8](repeating: 7, count: count)[...])
            #expect(throws: ResourceCipher.Failure.truncated) { try cipher.finish() }
        }
    }

    /// Made by pyca/cryptography's AESGCM with a nonce of 16 bytes.
    @Test func `GCM gives nothing out before its tag is verified, and nothing of altered bytes`() throws {
        let key = try #require(ContentKey((0..<32).map { UInt8($0) }))
        let message =
            counterVector
            + bytes(
                "d3a0a2cdbfc0715141d82dd47ebdad80dcc9caece6a35d0e372318d41f70d58966e68d4c4fdc9403489413ddfadbde925cb5")
        let clear = Array(plaintext.prefix(32)) + [0xAA, 0xBB]
        let cipher = try #require(ResourceCipher(.aes256GCM, key: key, vector: nil))
        #expect(cipher.decrypt(message[...]).isEmpty)
        #expect(try cipher.finish() == clear)
        for index in [0, 15, 16, 40, message.count - 1] {
            var altered = message
            altered[index] ^= 1
            let cipher = try #require(ResourceCipher(.aes256GCM, key: key, vector: nil))
            #expect(cipher.decrypt(altered[...]).isEmpty)
            #expect(throws: ResourceCipher.Failure.notAuthentic) { try cipher.finish() }
        }
        let short = try #require(ResourceCipher(.aes256GCM, key: key, vector: nil))
        _ = short.decrypt(message.prefix(31))
        #expect(throws: ResourceCipher.Failure.truncated) { try short.finish() }
    }

    @Test func `A key of another size than the method's is refused`() throws {
        #expect(ContentKey([UInt8](repeating: 1, count: 15)) == nil && ContentKey([UInt8]()) == nil)
        let (short, long) = (try makeKey(shortKey), try makeKey(longKey))
        #expect(ResourceCipher(.aes128, key: long, vector: chainVector) == nil)
        #expect(ResourceCipher(.aes256, key: short, vector: chainVector) == nil)
        #expect(ResourceCipher(.aes256GCM, key: short, vector: nil) == nil)
        #expect(ResourceCipher(.aes128, key: short, vector: [1, 2, 3]) == nil)
    }

    @Test func `A content key is never printed`() throws {
        let key = try makeKey(shortKey)
        let keys = SampleKeys(byID: [Bytes16(high: 1, low: 2): key], other: key)
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\(keys)", dumped] {
            #expect(!text.contains("2b7e") && !text.contains("43, 126"), "\(text)")
        }
        #expect(key == ContentKey(shortKey) && key != ContentKey(longKey.prefix(16)))
    }
}

struct SampleCipherTests {
    /// NIST SP 800-38A, F.5.1.
    private let counted = bytes(
        """
        874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
        5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee
        """)
    /// F.2.1.
    private let chained = bytes(ResourceCipherTests.vectors[0].ciphertext)

    private func cipher(_ scheme: SampleCipher.Scheme) throws -> SampleCipher {
        let key = try makeKey(shortKey)
        return try #require(SampleCipher(scheme, key: key))
    }

    /// Pieces one behind the other.
    private func joined(_ pieces: ArraySlice<UInt8>...) -> [UInt8] { pieces.flatMap { $0 } }

    @Test func `cenc counts over the protected ranges as if nothing lay between them`() throws {
        var sample = joined([1, 2, 3], counted[..<20], [4, 5], counted[20...], [6])
        try cipher(.cenc).decrypt(&sample, vector: counterVector, ranges: [3..<23, 25..<69])
        #expect(sample == joined([1, 2, 3], plaintext[..<20], [4, 5], plaintext[20...], [6]))
    }

    @Test func `cenc's counter has 64 bits and starts again at 0`() throws {
        // ISO/IEC 23001-7, 9.1: libcrypto's would carry into the upper half.
        let high = [UInt8](repeating: 9, count: 8)
        func block(_ low: UInt8) throws -> [UInt8] {
            var zeros = [UInt8](repeating: 0, count: 16)
            try cipher(.cenc).decrypt(
                &zeros, vector: high + [UInt8](repeating: low, count: 8), ranges: [0..<16])
            return zeros
        }
        var sample = [UInt8](repeating: 0, count: 40)
        try cipher(.cenc).decrypt(
            &sample, vector: high + [UInt8](repeating: 0xFF, count: 8), ranges: [0..<8, 8..<40])
        #expect(Array(sample[..<32]) == (try block(0xFF) + block(0)))
        // A vector of eight bytes stands in front of a counter that starts at 0.
        var short = [UInt8](repeating: 0, count: 16)
        try cipher(.cenc).decrypt(&short, vector: high, ranges: [0..<16])
        #expect(short == (try block(0)))
    }

    @Test func `cbcs decrypts a block of the pattern, chains over it and begins anew in each range`() throws {
        let gap = [UInt8](repeating: 0xEE, count: 32)[...]
        let stretch = joined(chained[..<16], gap, chained[16..<32], gap, chained[32..<48])
        let clear = joined(plaintext[..<16], gap, plaintext[16..<32], gap, plaintext[32..<48])
        var sample = joined([7], stretch[...], [8], stretch[...], [9, 9, 9])
        let second = 2 + stretch.count
        try cipher(.cbcs).decrypt(
            &sample, vector: chainVector, ranges: [1..<1 + stretch.count, second..<second + stretch.count + 3],
            pattern: SampleCipher.Pattern(encrypted: 1, clear: 2))
        #expect(sample == joined([7], clear[...], [8], clear[...], [9, 9, 9]))
    }

    @Test func `cbc1 chains over the ranges and leaves what fills no block`() throws {
        var sample = joined(chained[..<32], [1, 2, 3], chained[32...], [4])
        try cipher(.cbc1).decrypt(&sample, vector: chainVector, ranges: [0..<35, 35..<68])
        #expect(sample == joined(plaintext[..<32], [1, 2, 3], plaintext[32...], [4]))
    }

    @Test func `cens counts the whole blocks of the pattern alone`() throws {
        let gap = [UInt8](repeating: 1, count: 16)[...]
        var sample = joined(counted[..<16], gap, counted[16..<32])
        try cipher(.cens).decrypt(
            &sample, vector: counterVector, ranges: [0..<48], pattern: SampleCipher.Pattern(encrypted: 1, clear: 1))
        #expect(sample == joined(plaintext[..<16], gap, plaintext[16..<32]))
        var sound = joined(counted[..<16], [1, 2, 3])
        try cipher(.cens).decrypt(&sound, vector: counterVector, ranges: [0..<19])
        #expect(sound == joined(plaintext[..<16], [1, 2, 3]))
    }
}
