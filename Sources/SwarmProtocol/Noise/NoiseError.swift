/// Why a handshake failed. The connection is closed without an answer.
public enum NoiseError: Error, Hashable, Sendable {
    /// The message is shorter than its keys and tags, or longer than 65,535 bytes.
    case length(Int)
    /// A part of the message is not authentic: another key, another prologue, or altered bytes.
    case notAuthentic
    /// The remote key gives the all-zero secret.
    case weakKey
}
