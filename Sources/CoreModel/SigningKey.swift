/// A secret Ed25519 key that signs; the secret itself stays with the implementation.
public protocol SigningKey: Sendable {
    /// The public half.
    var verificationKey: VerificationKey { get }

    /// Signs `message` (RFC 8032, pure Ed25519).
    func sign(_ message: [UInt8]) -> Signature
}
