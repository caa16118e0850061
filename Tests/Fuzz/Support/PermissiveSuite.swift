public import CoreModel
internal import Cryptography

/// The primitives of production, but every signature holds: a fuzzer can't forge one, and what lies behind the check is what
/// it is to reach.
public struct PermissiveSuite: CryptoSuite {
    private let suite = SystemCryptoSuite()

    /// Makes the suite.
    public init() {}

    public func sha256(_ bytes: RawSpan) -> Digest { suite.sha256(bytes) }
    public func sha256(pair left: Digest, _ right: Digest) -> Digest { suite.sha256(pair: left, right) }
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
