internal import CoreModel

/// The chaining key, the hash of everything said so far, and the key in force (Noise revision 34, section 5.2).
struct NoiseSymmetricState: Sendable {
    private(set) var hash: [UInt8]
    private var chainingKey: [UInt8]
    private var key: Bytes32?
    private var nonce: UInt64 = 0
    private let suite: any CryptoSuite

    init(protocolName: String, suite: any CryptoSuite) {
        // HASHLEN is 64 and both names are shorter, so they are padded and not hashed.
        var name = Array(protocolName.utf8)
        precondition(name.count <= 64, "a longer protocol name would have to be hashed")
        name.append(contentsOf: repeatElement(0, count: 64 - name.count))
        hash = name
        chainingKey = name
        self.suite = suite
    }

    mutating func mix(hash bytes: some Collection<UInt8>) {
        hash = suite.blake2b(hash + bytes)
    }

    mutating func mix(key material: Bytes32) {
        let (chain, output) = expand(material.bytes)
        chainingKey = chain
        key = Self.truncated(output)
        nonce = 0
    }

    /// Appends `plaintext`, encrypted once a key is in force.
    mutating func encryptAndHash(_ plaintext: [UInt8], appendingTo message: inout [UInt8]) {
        let start = message.count
        if let key {
            let nothing: [UInt8] = []
            suite.seal(
                key: key, nonce: nonce, associatedData: hash.span.bytes, plaintext.span.bytes, nothing.span.bytes,
                appendingTo: &message)
            nonce += 1
        } else {
            message.append(contentsOf: plaintext)
        }
        mix(hash: message[start...])
    }

    mutating func decryptAndHash(_ ciphertext: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        var plaintext: [UInt8] = []
        if let key {
            guard
                suite.open(
                    key: key, nonce: nonce, associatedData: hash.span.bytes, ciphertext.span.bytes,
                    appendingTo: &plaintext)
            else { throw .notAuthentic }
            nonce += 1
        } else {
            plaintext = Array(ciphertext)
        }
        mix(hash: ciphertext)
        return plaintext
    }

    /// Bytes that ``encryptAndHash(_:appendingTo:)`` adds to its input.
    var overhead: Int { key == nil ? 0 : 16 }

    /// The two transport keys: the initiator's direction first.
    func split() -> (Bytes32, Bytes32) {
        let (first, second) = expand([])
        return (Self.truncated(first), Self.truncated(second))
    }

    /// HKDF with two outputs (section 4.3).
    private func expand(_ material: [UInt8]) -> ([UInt8], [UInt8]) {
        let extracted = suite.hmacBLAKE2b(key: chainingKey, material)
        let first = suite.hmacBLAKE2b(key: extracted, [1])
        return (first, suite.hmacBLAKE2b(key: extracted, first + [2]))
    }

    private static func truncated(_ output: [UInt8]) -> Bytes32 {
        guard let key = Bytes32(output.prefix(32)) else { preconditionFailure("the suite's HMAC gave \(output.count)") }
        return key
    }
}
