/// Why appended data was refused. What was appended before stays, and a correct continuation may follow.
public enum DataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first bytes are of no MP4.
    case notMP4
    /// A box contradicts itself or what contains it. `offset` counts the bytes appended with this coding since the
    /// start or the last seek.
    case malformedBox(type: String, offset: Int)
    /// A box that must be read as a whole is longer than any real one.
    case boxTooLarge(type: String, byteCount: UInt64)
    /// Media came before an initialisation section.
    case missingInitialization
    /// The initialisation section holds no track of the coding's kind.
    case noTrack(DataCoding)
    /// A file whose `moov` comes last is longer than what is kept for it.
    case fileTooLarge(limit: Int)
    /// Data after the end of the stream, without a seek in between.
    case afterEndOfStream
    /// The engine has failed or was shut down.
    case engineFailed(EngineError?)

    public var description: String {
        switch self {
        case .notMP4: "the data is no MP4"
        case .malformedBox(let type, let offset): "the box '\(type)' at byte \(offset) is malformed"
        case .boxTooLarge(let type, let byteCount): "the box '\(type)' claims \(byteCount) bytes"
        case .missingInitialization: "media data before an initialisation section; append ftyp and moov first"
        case .noTrack(let coding): "the initialisation section has no track for \(coding)"
        case .fileTooLarge(let limit): "a file with its moov at the end may have at most \(limit) bytes"
        case .afterEndOfStream: "the stream was ended; seek before appending again"
        case .engineFailed(let error): error.map { "playback has failed: \($0)" } ?? "playback has ended"
        }
    }
}

/// What appended data holds.
public enum DataCoding: Hashable, Sendable, CaseIterable {
    /// MP4 with audio and video.
    case mp4
    /// MP4 of which the audio is played.
    case mp4Audio
    /// MP4 of which the video is played.
    case mp4Video

    var trackKind: TrackKind {
        switch self {
        case .mp4: .muxed
        case .mp4Audio: .audio
        case .mp4Video: .video
        }
    }

    /// The engine's track that takes it.
    var trackID: Int {
        switch self {
        case .mp4: 0
        case .mp4Audio: 1
        case .mp4Video: 2
        }
    }
}
