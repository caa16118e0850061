/// The cryptographic primitives that the pure modules use, passed in by the driver.
///
/// Production passes libsodium and libcrypto; the simulator passes keyed fakes of the same lengths and failures.
public protocol CryptoSuite: Sendable {
    /// The SHA-256 digest of `bytes`.
    func sha256(_ bytes: RawSpan) -> Digest

    /// The SHA-256 digest of two digests side by side: an inner node of a BEP 52 tree.
    func sha256(pair left: Digest, _ right: Digest) -> Digest

    /// The BLAKE2b digest of `bytes`, 64 bytes (RFC 7693).
    func blake2b(_ bytes: [UInt8]) -> [UInt8]

    /// HMAC-BLAKE2b with a block of 128 bytes, as Noise's HKDF uses it; 64 bytes.
    func hmacBLAKE2b(key: [UInt8], _ bytes: [UInt8]) -> [UInt8]

    /// Whether `signature` of `message` is `key`'s (RFC 8032; small-order and non-canonical keys never verify).
    func isValid(_ signature: Signature, of message: [UInt8], by key: VerificationKey) -> Bool

    /// The signing key that `seed` expands to.
    func signingKey(seed: Bytes32) -> any SigningKey

    /// The X25519 key whose secret is `seed`, clamped.
    func agreementKey(seed: Bytes32) -> any AgreementKey

    /// Encrypts `first` and then `second` as one ChaCha20-Poly1305 message (RFC 8439) and appends ciphertext and tag to
    /// `output`.
    ///
    /// The 12-byte nonce is four zero bytes and `nonce` in little-endian order, as Noise says.
    func seal(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ first: RawSpan, _ second: RawSpan,
        appendingTo output: inout [UInt8])

    /// Decrypts a ChaCha20-Poly1305 message (ciphertext and tag) and appends the plaintext to `output`.
    ///
    /// - Returns: false, with `output` as it was, when the message is not authentic or shorter than its tag.
    func open(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ message: RawSpan,
        appendingTo output: inout [UInt8]
    ) -> Bool
}
