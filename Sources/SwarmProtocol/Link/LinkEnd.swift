/// Why a link ended.
public enum LinkEnd: Error, Hashable, Sendable {
    /// This side ended it and said so.
    case local(ByeCode)
    /// The other side ended it.
    case remote(ByeCode)
    /// The first bytes name no pattern and version that is spoken here.
    case unsupported
    /// The handshake failed; nothing was answered.
    case handshake(NoiseError)
    /// The handshake took too long.
    case handshakeTimeout
    /// The other side's certificate was refused before the link was established; nothing was answered.
    case refused(ByeCode)
    /// A transport message was not authentic; nothing was answered.
    case notAuthentic
}
