public import CoreModel
public import Cryptography

/// What a session hands to its player, in playback order for each track.
public enum SessionEvent: Sendable {
    /// The presentation is known; the tracks follow.
    case prepared(SessionInformation)
    /// An initialisation section; the segments after it need it.
    case initialization(track: Int, [UInt8])
    /// A segment's bytes follow.
    case segmentBegan(track: Int, SegmentTiming)
    /// The next bytes of the segment.
    case bytes(track: Int, ArraySlice<UInt8>)
    /// The segment is whole.
    case segmentEnded(track: Int)
    /// The track has no more segments.
    case trackEnded(track: Int)
    /// What is on screen now is of this rendition.
    case renditionShown(track: Int, String)
    /// The session can't go on.
    case failed(SessionError)
}

/// What is known of a presentation when it starts.
public struct SessionInformation: Sendable {
    /// A track that is played.
    public struct Track: Sendable {
        /// What a track carries.
        public enum Kind: String, Sendable { case video, audio, muxed }

        /// The track's number in ``SessionEvent``.
        public var id: Int
        /// What it carries.
        public var kind: Kind
        /// The rendition, as `pdn inspect` lists it.
        public var rendition: String
        /// The bytes' container.
        public var container: Container
        /// The rendition's bit rate; 0 when unknown.
        public var bitsPerSecond: UInt64
    }

    /// A rendition that the first track can be played in.
    public struct Quality: Sendable, Hashable {
        /// The rendition, as `pdn inspect` lists it.
        public var rendition: String
        /// The bit rate that the manifest declares; 0 when unknown.
        public var bitsPerSecond: UInt64
        /// The picture's size in pixels, where the manifest tells.
        public var width: Int?
        public var height: Int?
    }

    /// Containers that the player demultiplexes.
    public enum Container: String, Sendable { case mp4, mpegTS, packedAudio }

    /// Where playback begins: the place that was asked for, or in live what lies the latency to play at behind the edge.
    /// A player begins there by itself.
    public var start: MediaTime
    /// The whole length; `nil` for live.
    public var duration: MediaTime?
    /// Whether the presentation grows.
    public var isLive: Bool
    /// The tracks.
    public var tracks: [Track]
    /// What the first track's segments are chosen from, the lowest bit rate first; only itself where there is no choice.
    public var qualities: [Quality]
}

/// Where a segment stands in the presentation.
public struct SegmentTiming: Sendable {
    /// Its start.
    public var start: MediaTime
    /// Its length.
    public var duration: MediaTime
    /// What turns the media's timestamps into presentation time; `nil` where the first timestamp of the section stands
    /// for its first segment's start (HLS).
    public var mediaOffset: MediaTime?
    /// The discontinuity or period; timestamps are continuous within one.
    public var section: UInt64
    /// Which of ``SessionInformation/qualities`` it is of: decoders start anew where it changes.
    public var quality = 0
    /// Frames before this time are not shown (a DASH period's start).
    public var windowStart: MediaTime?
    /// Frames from this time on are not shown (a DASH period's end).
    public var windowEnd: MediaTime?
    /// The segment's size where known, in bytes.
    public var byteCount: Int?
    /// What its samples are decrypted with, where they are encrypted.
    public var sampleKeys: SampleKeys?
}
