/// Why a ``MediaEngine`` failed. Once it has failed only a new engine helps; what was presented before stays valid.
public enum EngineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first bytes of a track are of no container that the engine reads (MP4, MPEG-TS, packed audio).
    case unknownContainer(track: Int)
    /// The container could not be read on: damaged segments beyond the limit. `code` is the library's.
    case malformedContainer(track: Int, code: Int32)
    /// The stream was ended before a file was complete.
    case incompleteFile(track: Int)
    /// No decoder for the codec, which is named.
    case unsupportedCodec(track: Int, name: String)
    /// Samples are encrypted with a key that is not there; its identifier, 32 hexadecimal digits.
    case missingKey(track: Int, keyID: String)
    /// Samples are encrypted in a way that isn't read: the scheme, or the box that says where their vectors are.
    case unsupportedProtection(track: Int, name: String)
    /// Nothing of a whole section could be decoded.
    case undecodable(track: Int)
    /// The owner appended more than ``EngineConfiguration/encodedByteLimit``.
    case bufferOverflow(track: Int, limit: Int)
    /// An append to a track that was never added.
    case unknownTrack(Int)
    /// The system has no memory or thread left.
    case outOfResources

    public var description: String {
        switch self {
        case .unknownContainer(let track): "track \(track) is neither MP4, MPEG-TS nor packed audio"
        case .malformedContainer(let track, let code): "track \(track) is damaged beyond recovery (code \(code))"
        case .incompleteFile(let track): "track \(track) ended before its file was complete"
        case .unsupportedCodec(let track, let name): "track \(track) needs a decoder for \(name)"
        case .missingKey(let track, let id): "track \(track) is encrypted, and the key \(id) was not given"
        case .unsupportedProtection(let track, let name):
            "track \(track) is encrypted in a way that is not supported (\(name))"
        case .undecodable(let track): "nothing of track \(track) could be decoded"
        case .bufferOverflow(let track, let limit): "track \(track) holds more than \(limit) undecoded bytes"
        case .unknownTrack(let track): "track \(track) was appended to but never added"
        case .outOfResources: "out of memory or threads"
        }
    }
}
