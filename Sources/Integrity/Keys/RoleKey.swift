public import CoreModel

/// A secret signing key together with the one role it has.
public struct RoleKey: Sendable {
    /// What the key may sign.
    public let role: KeyRole
    /// The short name that goes into what it signs.
    public let id: KeyID
    private let key: any SigningKey

    /// Gives `key` a role.
    public init(role: KeyRole, key: any SigningKey, suite: some CryptoSuite) {
        self.role = role
        self.key = key
        id = KeyID(of: key.verificationKey, suite: suite)
    }

    /// The public half.
    public var verificationKey: VerificationKey { key.verificationKey }

    /// Signs `statement` as one of `context`.
    ///
    /// - Precondition: the context's role is the key's.
    public func sign(_ statement: [UInt8], as context: SignatureContext) -> Signature {
        precondition(context.role == role, "a \(role) key does not sign a \(context)")
        return key.sign(context.message(statement))
    }
}
