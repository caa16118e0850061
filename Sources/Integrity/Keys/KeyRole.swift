/// What a signing key is for. A key has one role, and a signature of one kind is only ever accepted from its role.
public enum KeyRole: String, CaseIterable, Sendable {
    /// Signs records and catalogues: the publisher, or a witness.
    case authority
    /// Signs membership certificates: the tracker.
    case membership
    /// Signs viewer tokens: the operator's own service.
    case token
    /// Signs claims: a viewer's session. Never in a file.
    case claim
}
