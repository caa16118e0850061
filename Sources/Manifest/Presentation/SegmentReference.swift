public import CoreModel

/// A segment of a timeline: where its bytes are and where it plays.
public struct SegmentReference: Hashable, Sendable {
    /// Its name within the rendition, which hosts, tokens and list order don't change.
    public var position: SegmentPosition
    /// Where it begins on the presentation's timeline. The first segment of a DASH period may begin before the period:
    /// see ``presentationWindow``.
    public var start: MediaTime
    /// How long it plays, as the manifest says. The last segment of a DASH period may be shorter in truth.
    public var duration: MediaTime
    /// Where its bytes are.
    public var url: String
    /// Where the same bytes are as well, on another host as a rule; `nil` where the manifest names one place.
    public var otherURL: String?
    /// The bytes within that resource; `nil` for all of it.
    public var byteRange: Range<UInt64>?
    /// What a decoder needs before it; `nil` where segments initialize themselves.
    public var initialization: InitializationReference?
    /// The section of the timeline: decoders start anew where it changes. HLS: the discontinuity sequence number; DASH: the
    /// period's start in milliseconds.
    public var section: UInt64
    /// What to add to a media time to get its presentation time (DASH). `nil` for HLS, where the first segment of each
    /// section is anchored at its ``start``.
    public var mediaOffset: MediaTime?
    /// What of the presentation's timeline it may fill: the DASH period. Media outside is to be cut off.
    public var presentationWindow: PresentationWindow?
    /// Whether it is absent on purpose: never to be fetched (HLS EXT-X-GAP).
    public var isGap: Bool
    /// How it is encrypted.
    public var encryption: Encryption?
    /// The wall-clock time of its beginning, in HLS where the manifest gives one for this very segment.
    public var programDateTime: UnixTime?
    /// How often the encoder had started its numbers again before it: part of its name beside ``position``.
    public var epoch: UInt32 = 0

    /// Where it ends on the presentation's timeline.
    public var end: MediaTime { start + duration }

    /// Where it ends, cut at the end of its period.
    public var effectiveEnd: MediaTime { presentationWindow?.end.map { min($0, end) } ?? end }
}

/// A half-open span of a presentation's timeline.
public struct PresentationWindow: Hashable, Sendable {
    /// The first instant that belongs to it.
    public var start: MediaTime
    /// The first instant that doesn't any more; `nil` if it has no end yet.
    public var end: MediaTime?
}

/// An initialization section: EXT-X-MAP or DASH Initialization.
public struct InitializationReference: Hashable, Sendable {
    /// Where its bytes are.
    public var url: String
    /// The bytes within that resource; `nil` for all of it.
    public var byteRange: Range<UInt64>?
    /// Its name within the rendition.
    public var position: SegmentPosition
    /// How it is encrypted.
    public var encryption: Encryption?
}
