public import CoreModel

/// The kind of statement that a signature is made over.
///
/// The signed message is the kind's string, a zero byte and the statement. No string is a prefix of another with its zero
/// byte, so a signature of one kind can't be passed off as one of another, whatever the statements are.
public enum SignatureContext: String, CaseIterable, Sendable {
    /// A segment record.
    case record = "pdn/1 record"
    /// The head of a catalogue.
    case catalogue = "pdn/1 catalogue"
    /// A membership certificate.
    case certificate = "pdn/1 certificate"
    /// A viewer token.
    case token = "pdn/1 token"
    /// A claim of a CDN fetch.
    case claim = "pdn/1 claim"
    /// A viewer's request to a tracker for admission.
    case join = "pdn/1 join"

    /// The role of the keys that sign this kind.
    public var role: KeyRole {
        switch self {
        case .record, .catalogue: .authority
        case .certificate: .membership
        case .token: .token
        case .claim, .join: .claim
        }
    }

    /// The message that is signed for `statement`.
    public func message(_ statement: [UInt8]) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(rawValue.utf8.count + 1 + statement.count)
        message.append(contentsOf: rawValue.utf8)
        message.append(0)
        message.append(contentsOf: statement)
        return message
    }

    /// Whether `signature` is `key`'s over `statement`, as a statement of this kind.
    public func isValid(
        _ signature: Signature, of statement: [UInt8], by key: VerificationKey, suite: some CryptoSuite
    ) -> Bool {
        suite.isValid(signature, of: message(statement), by: key)
    }
}
