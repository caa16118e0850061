public import CoreModel
internal import Cryptography

/// The primitives of production, but every signature holds and every SHA-256 digest is zero, so that every tree and key
/// identifier fits: a fuzzer can't forge them, and what lies behind the checks is what it is to reach.
public struct PermissiveSuite: CryptoSuite {
    private let suite = SystemCryptoSuite()

    /// Makes the suite.
    public init() {}

    public func sha256(_ bytes: RawSpan) -> Digest { Digest(.zero) }
    public func sha256(pair left: Digest, _ right: Digest) -> Digest { Digest(.zero) }
    public func blake2b(_ bytes: [UInt8]) -> [UInt8] { suite.blake2b(bytes) }
    public func hmacBLAKE2b(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] { suite.hmacBLAKE2b(key: key, bytes) }
    public func isValid(_ signature: Signature, of message: [UInt8], by key: VerificationKey) -> Bool { true }
    public func signingKey(seed: Bytes32) -> any SigningKey { suite.signingKey(seed: seed) }
    public func agreementKey(seed: Bytes32) -> any AgreementKey { suite.agreementKey(seed: seed) }

    public func seal(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ first: RawSpan, _ second: RawSpan,
        appendingTo output: inout [UInt8]
    ) {
        suite.seal(key: key, nonce: nonce, associatedData: associatedData, first, second, appendingTo: &output)
    }

    public func open(
        key: Bytes32, nonce: UInt64, associatedData: RawSpan, _ message: RawSpan, appendingTo output: inout [UInt8]
    ) -> Bool {
        suite.open(key: key, nonce: nonce, associatedData: associatedData, message, appendingTo: &output)
    }
}
