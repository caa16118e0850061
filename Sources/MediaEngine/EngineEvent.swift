public import CoreModel

/// What a ``MediaEngine`` tells its owner. Events come one at a time, in order, on one of the engine's threads or on the
/// thread of the command that caused them; no lock is held, so a handler may call any command.
public enum EngineEvent: Hashable, Sendable {
    /// Every track's content is known. Comes once.
    case ready(EngineInfo)
    /// The first frame was handed to the sink (for audio alone: the first samples are decoded). Comes once.
    case firstFrame(time: MediaTime)
    /// The clock runs from this position: after `play()`, or after the first data or a seek when `play()` came before.
    case playing(position: MediaTime)
    /// The clock stopped because a track ran out of data.
    case stallBegan(position: MediaTime)
    /// The clock runs again, or the stall was ended by a pause or a seek.
    case stallEnded(position: MediaTime)
    /// The seek landed: the frame is with the sink, and the position is `time`.
    case seekCompleted(id: UInt64, time: MediaTime)
    /// A later seek, a failure or the end of the engine overtook this one.
    case seekCancelled(id: UInt64)
    /// The last frame of every track has been shown. Comes once, and once more after each seek.
    case ended
    /// Nothing more will be decoded or presented. Comes at most once, as the last event.
    case failed(EngineError)
}

/// What the tracks hold, as far as their containers and first frames tell.
public struct EngineInfo: Hashable, Sendable {
    /// Size of the picture in pixels, sample aspect ratio not applied; nil without video.
    public var pictureSize: PictureSize?
    /// Whether there is video.
    public var hasVideo: Bool
    /// Whether there is audio.
    public var hasAudio: Bool

    /// Makes the description of what the tracks hold.
    public init(pictureSize: PictureSize?, hasVideo: Bool, hasAudio: Bool) {
        self.pictureSize = pictureSize
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
    }
}

/// The size of a picture in pixels.
public struct PictureSize: Hashable, Sendable {
    public var width: Int
    public var height: Int

    /// Makes a size from pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}
