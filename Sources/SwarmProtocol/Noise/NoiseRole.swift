/// A side of a handshake.
public enum NoiseRole: Sendable {
    /// Opens the connection and sends the first message.
    case initiator
    /// Answers.
    case responder
}
