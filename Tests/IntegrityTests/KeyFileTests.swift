import CoreModel
import Integrity
import Testing

struct KeyFileTests {
    @Test func `A key file reads back`() throws {
        let file = KeyFile(role: .membership, seed: Bytes32(Array(0..<32) as [UInt8])!)
        #expect(
            file.text == "pdn-key 1\nrole membership\n"
                + "seed 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n")
        let read = try KeyFile(parsing: Array(("# a comment\n" + file.text).utf8))
        #expect(read.role == .membership && read.seed == file.seed)
        #expect(try read.key(for: .membership, suite: suite).id == file.key(for: .membership, suite: suite).id)
        #expect(throws: KeyFileError.wrongRole(expected: .authority, actual: .membership)) {
            try read.key(for: .authority, suite: suite)
        }
    }

    @Test(arguments: [
        ("", KeyFileError.notAKeyFile), ("-----BEGIN PRIVATE KEY-----", .notAKeyFile), ("pdn-key 2\n", .unknownVersion),
        ("pdn-key 1\nrole token\n", .malformed), ("pdn-key 1\nrole token\nseed 00\n", .malformed),
        ("pdn-key 1\nrole claim\nseed \(String(repeating: "0", count: 64))\n", .unknownRole),
        ("pdn-key 1\nrole king\nseed \(String(repeating: "0", count: 64))\n", .unknownRole),
        ("pdn-key 1\nrole token\nseed \(String(repeating: "0", count: 64))\nrole token", .malformed),
        (String(repeating: "pdn-key 1\n", count: 1000), .notAKeyFile),
    ])
    func `What is no key file is refused`(text: String, error: KeyFileError) {
        #expect(throws: error) { try KeyFile(parsing: Array(text.utf8)) }
    }
}
