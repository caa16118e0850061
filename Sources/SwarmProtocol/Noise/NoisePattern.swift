/// The handshake patterns of a link (Noise revision 34, section 7.5), with the byte that selects each on the wire.
public enum NoisePattern: UInt8, Sendable {
    /// Neither side knows the other's key: three messages.
    case xx = 1
    /// The initiator knows the responder's key: two messages.
    case ik = 2

    /// One step of a message pattern.
    enum Token { case e, s, ee, es, se, ss }

    /// The protocol's name, which is hashed first of all.
    var protocolName: String {
        switch self {
        case .xx: "Noise_XX_25519_ChaChaPoly_BLAKE2b"
        case .ik: "Noise_IK_25519_ChaChaPoly_BLAKE2b"
        }
    }

    /// The messages in order, the initiator's first.
    var messages: [[Token]] {
        switch self {
        case .xx: [[.e], [.e, .ee, .s, .es], [.s, .se]]
        case .ik: [[.e, .es, .s, .ss], [.e, .ee, .se]]
        }
    }
}
