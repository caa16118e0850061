package import CoreModel

/// Stand-ins for the cryptographic primitives: of the same lengths, failing where the real ones fail among viewers who are
/// honest about their keys, and cheap. Everything stays readable, and anybody could forge it: nobody in a simulation does.
///
/// A tag depends on the key, the nonce, the lengths and the associated data, not on the message: bytes that arrive have not
/// been altered on the way.
package struct KeyedFakes: CryptoSuite {
    package init() {}

    package func sha256(_ bytes: RawSpan) -> Digest { Digest(Self.hash(bytes, seed: 0x5348_4132)) }

    package func sha256(pair left: Digest, _ right: Digest) -> Digest {
        var mixer = Mixer(seed: 0x7061_6972)
        mixer.mix(left.value)
        mixer.mix(right.value)
        return Digest(mixer.value)
    }

    package func blake2b(_ bytes: [UInt8]) -> [UInt8] {
        Self.bytes(Self.hash(bytes.span.bytes, seed: 0x626C_6131), Self.hash(bytes.span.bytes, seed: 0x626C_6132))
    }

    package func hmacBLAKE2b(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        let seed = Self.hash(key.span.bytes, seed: 0x686D_6163).words.0
        return Self.bytes(Self.hash(bytes.span.bytes, seed: seed), Self.hash(bytes.span.bytes, seed: ~seed))
    }

    private static func bytes(_ first: Bytes32, _ second: Bytes32) -> [UInt8] {
        let (a, b) = (first.words, second.words)
        let spelled = (
            a.0.bigEndian, a.1.bigEndian, a.2.bigEndian, a.3.bigEndian,
            b.0.bigEndian, b.1.bigEndian, b.2.bigEndian, b.3.bigEndian
        )
        return withUnsafeBytes(of: spelled) { Array($0) }
    }

    package func isValid(_ signature: Signature, of message: [UInt8], by key: VerificationKey) -> Bool {
        signature == Self.signature(of: message, by: key)
    }

    package func signingKey(seed: Bytes32) -> any SigningKey {
        var mixer = Mixer(seed: 0x7369_676E)
        mixer.mix(seed)
        return FakeSigningKey(verificationKey: VerificationKey(mixer.value))
    }

    package func agreementKey(seed: Bytes32) -> any AgreementKey {
        var mixer = Mixer(seed: 0x6167_7265)
        mixer.mix(seed)
        return FakeAgreementKey(publicKey: mixer.value)
    }

    package func seal(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ first: RawSpan, _ second: RawSpan,
        appendingTo output: inout [UInt8]
    ) {
        Self.append(first, to: &output)
        Self.append(second, to: &output)
        let tag = Self.tag(
            key: key, nonce: nonce, associatedData: associatedData, byteCount: first.byteCount + second.byteCount)
        withUnsafeBytes(of: (tag.high.bigEndian, tag.low.bigEndian)) { output.append(contentsOf: $0) }
    }

    package func open(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ message: RawSpan, appendingTo output: inout [UInt8]
    ) -> Bool {
        let byteCount = message.byteCount - 16
        guard byteCount >= 0 else { return false }
        let tag = Self.tag(key: key, nonce: nonce, associatedData: associatedData, byteCount: byteCount)
        guard Self.word(message, at: byteCount) == tag.high.byteSwapped,
            Self.word(message, at: byteCount + 8) == tag.low.byteSwapped
        else { return false }
        Self.append(message.extracting(0..<byteCount), to: &output)
        return true
    }

    private static func append(_ bytes: RawSpan, to output: inout [UInt8]) {
        guard bytes.byteCount > 0 else { return }
        bytes.withUnsafeBytes { output.append(contentsOf: $0) }
    }

    private static func word(_ bytes: RawSpan, at offset: Int) -> UInt64 {
        bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private static func tag(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, byteCount: Int
    ) -> (high: UInt64, low: UInt64) {
        var state = key.words.0 ^ Mixer.scramble(nonce &+ 0x7461_6731) &+ UInt64(byteCount)
        if associatedData.byteCount > 0 { state ^= hash(associatedData, seed: 0x6164).words.0 }
        return (Mixer.scramble(state ^ key.words.1), Mixer.scramble(state &+ key.words.2))
    }

    fileprivate static func signature(of message: [UInt8], by key: VerificationKey) -> Signature {
        var mixer = Mixer(seed: 0x7665_7269)
        mixer.mix(key.value)
        mixer.mix(message.span.bytes)
        let first = mixer.value
        mixer.mix(first)
        return Signature(first: first, second: mixer.value)
    }

    private static func hash(_ bytes: RawSpan, seed: UInt64) -> Bytes32 {
        var mixer = Mixer(seed: seed)
        mixer.mix(bytes)
        return mixer.value
    }

    /// A hash of two words, good enough to tell things apart and to draw numbers from.
    private struct Mixer {
        private var first: UInt64
        private var second: UInt64

        init(seed: UInt64) {
            first = Self.scramble(seed)
            second = Self.scramble(~seed)
        }

        static func scramble(_ word: UInt64) -> UInt64 {
            var word = word &+ 0x9E37_79B9_7F4A_7C15
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return word ^ word >> 31
        }

        mutating func mix(_ word: UInt64) {
            first = (first ^ word) &* 0xD6E8_FEB8_6659_FD93
            first ^= first >> 32
            second = (second &+ first) &* 0xA076_1D64_78BD_642F
            second ^= second >> 29
        }

        mutating func mix(_ bytes: Bytes32) {
            mix(bytes.words.0)
            mix(bytes.words.1)
            mix(bytes.words.2)
            mix(bytes.words.3)
        }

        mutating func mix(_ bytes: RawSpan) {
            var offset = 0
            while offset + 8 <= bytes.byteCount {
                mix(KeyedFakes.word(bytes, at: offset))
                offset += 8
            }
            var last = UInt64(bytes.byteCount) << 56
            while offset < bytes.byteCount {
                last = last << 8 ^ UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
                offset += 1
            }
            mix(last)
        }

        var value: Bytes32 {
            let a = Self.scramble(first ^ second)
            let b = Self.scramble(a ^ second)
            let c = Self.scramble(b &+ first)
            return Bytes32(words: (a, b, c, Self.scramble(c ^ a)))
        }
    }

    private struct FakeSigningKey: SigningKey {
        let verificationKey: VerificationKey

        func sign(_ message: [UInt8]) -> Signature { KeyedFakes.signature(of: message, by: verificationKey) }
    }

    private struct FakeAgreementKey: AgreementKey {
        let publicKey: Bytes32

        func sharedSecret(with other: Bytes32) -> Bytes32? {
            guard other != .zero else { return nil }
            var mixer = Mixer(seed: 0x7368_6172)
            mixer.mix(min(publicKey, other))
            mixer.mix(max(publicKey, other))
            return mixer.value
        }
    }
}
