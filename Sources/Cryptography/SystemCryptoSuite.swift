public import CoreModel
internal import CSodium

/// The primitives of production: SHA-256 and ChaCha20-Poly1305 by libcrypto, everything else by libsodium.
///
/// The split follows the speed measured per core on x86-64 with SHA and AVX2 instructions: libcrypto hashes 1.9 GB/s and
/// seals 5.2 GB/s, libsodium 0.44 and 1.5. A value holds nothing and may be used from any thread; the contexts that
/// libcrypto needs are kept per thread (``ThreadWorkspace``), re-keyed for each message, so that no link owns one.
public struct SystemCryptoSuite: CryptoSuite {
    /// Makes the suite; the first one initialises libsodium.
    public init() { Sodium.initialise() }

    public func sha256(_ bytes: RawSpan) -> Digest {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe ThreadWorkspace.current.sha256(buffer)
        }
    }

    public func sha256(pair left: Digest, _ right: Digest) -> Digest {
        let (l, r) = (left.value.words, right.value.words)
        let words = (
            l.0.bigEndian, l.1.bigEndian, l.2.bigEndian, l.3.bigEndian,
            r.0.bigEndian, r.1.bigEndian, r.2.bigEndian, r.3.bigEndian
        )
        return unsafe withUnsafeBytes(of: words) { buffer in
            unsafe ThreadWorkspace.current.sha256(buffer)
        }
    }

    public func blake2b(_ bytes: [UInt8]) -> [UInt8] { BLAKE2b.hash(bytes) }

    public func hmacBLAKE2b(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] { BLAKE2b.authenticate(bytes, key: key) }

    public func isValid(_ signature: Signature, of message: [UInt8], by key: VerificationKey) -> Bool {
        let signatureBytes = signature.bytes
        let keyBytes = key.value.bytes
        return unsafe crypto_sign_verify_detached(signatureBytes, message, UInt64(message.count), keyBytes) == 0
    }

    public func signingKey(seed: Bytes32) -> any SigningKey { Ed25519SigningKey(seed: seed) }

    public func agreementKey(seed: Bytes32) -> any AgreementKey { X25519AgreementKey(seed: seed) }

    public func seal(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ first: RawSpan, _ second: RawSpan,
        appendingTo output: inout [UInt8]
    ) {
        unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                unsafe associatedData.withUnsafeBytes { associatedData in
                    unsafe ThreadWorkspace.current.seal(
                        key: key, nonce: nonce, associatedData: associatedData, first, second, appendingTo: &output)
                }
            }
        }
    }

    public func open(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ message: RawSpan,
        appendingTo output: inout [UInt8]
    ) -> Bool {
        unsafe message.withUnsafeBytes { message in
            unsafe associatedData.withUnsafeBytes { associatedData in
                unsafe ThreadWorkspace.current.open(
                    key: key, nonce: nonce, associatedData: associatedData, message, appendingTo: &output)
            }
        }
    }
}
