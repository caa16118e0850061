import MediaEngine

/// What appended data holds.
public enum VBDataCoding: Int, Sendable {
    /// MP4 with audio and video.
    case mp4
    /// MP4 of which the audio is played.
    case mp4Audio
    /// MP4 of which the video is played.
    case mp4Video
}

extension DataCoding {
    init(_ coding: VBDataCoding) {
        switch coding {
        case .mp4: self = .mp4
        case .mp4Audio: self = .mp4Audio
        case .mp4Video: self = .mp4Video
        }
    }
}
