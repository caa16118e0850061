public import CoreModel
public import Cryptography

/// What a track carries.
public enum TrackKind: Hashable, Sendable {
    case video, audio
    /// Video and audio in one container.
    case muxed
}

/// Where a segment lies on the presentation's timeline.
public struct SegmentInfo: Hashable, Sendable {
    /// Presentation time of the segment's start, as the manifest says.
    public var start: MediaTime
    /// Duration, as the manifest says; nil when unknown.
    public var duration: MediaTime?
    /// Presentation time minus media time, where the manifest fixes it (DASH). With nil (HLS) the section is anchored:
    /// the first timestamp of its first segment is taken to lie at that segment's `start`, and the same mapping holds
    /// for every track of the section, so that audio and video stay in step.
    public var mediaOffset: MediaTime?
    /// Discontinuity or period; tracks that share a section share its timestamps. Decoding starts afresh in each.
    public var section: UInt64
    /// What of the media is presented; nil for all of it.
    public var window: ClipWindow?
    /// Which of several encodings of the track it is of: decoding starts afresh where it changes, in step with what was before.
    public var quality: Int
    /// What its samples are decrypted with; nil where nothing but samples in the clear is expected.
    public var sampleKeys: SampleKeys?

    /// Describes a segment.
    public init(
        start: MediaTime, duration: MediaTime? = nil, mediaOffset: MediaTime? = nil, section: UInt64 = 0,
        window: ClipWindow? = nil, quality: Int = 0, sampleKeys: SampleKeys? = nil
    ) {
        self.start = start
        self.duration = duration
        self.mediaOffset = mediaOffset
        self.section = section
        self.window = window
        self.quality = quality
        self.sampleKeys = sampleKeys
    }
}

/// The half-open span of presentation time [start, end) that frames must start in to be presented.
public struct ClipWindow: Hashable, Sendable {
    /// The first time inside; nil for no limit.
    public var start: MediaTime?
    /// The first time outside; nil for no limit.
    public var end: MediaTime?

    /// Makes the window [start, end).
    public init(start: MediaTime? = nil, end: MediaTime? = nil) {
        self.start = start
        self.end = end
    }

    /// Whether a frame that starts at `time` is presented.
    public func contains(_ time: MediaTime) -> Bool {
        if let start, time < start { return false }
        if let end, time >= end { return false }
        return true
    }
}

/// One step of a track's input. A segment is `segmentBegan`, any number of `bytes`, `segmentEnded`; bytes may be split
/// anywhere and are decoded as they come.
public enum TrackInput: Sendable {
    /// The initialisation section of the segments that follow (MP4). Repeating the one in force is harmless.
    case initialization([UInt8])
    /// A segment begins.
    case segmentBegan(SegmentInfo)
    /// The segment's next bytes.
    case bytes(ArraySlice<UInt8>)
    /// The segment is complete.
    case segmentEnded
    /// The track is complete; nothing follows before the next seek.
    case endOfTrack
}
