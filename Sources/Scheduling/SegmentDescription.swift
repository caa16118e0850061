/// What a timeline says about a segment before any of its bytes are there.
public struct SegmentDescription: Sendable, Equatable, Codable {
    /// When the segment starts, from the presentation's start.
    public var start: Duration
    /// How long it plays.
    public var duration: Duration
    /// The size that the rendition's bit rate suggests, in bytes; used until the real size is known.
    public var estimatedByteCount: Int

    /// Describes a segment.
    public init(start: Duration, duration: Duration, estimatedByteCount: Int) {
        self.start = start
        self.duration = duration
        self.estimatedByteCount = estimatedByteCount
    }

    /// When the segment ends.
    public var end: Duration { start + duration }
}
