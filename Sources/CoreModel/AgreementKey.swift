/// A secret X25519 key (RFC 7748); the secret itself stays with the implementation.
public protocol AgreementKey: Sendable {
    /// The public half.
    var publicKey: Bytes32 { get }

    /// The shared secret with the owner of `publicKey`; `nil` when that key gives the all-zero secret.
    func sharedSecret(with publicKey: Bytes32) -> Bytes32?
}
