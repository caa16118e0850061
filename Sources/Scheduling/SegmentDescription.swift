/// What a timeline says about a segment before any of its bytes are there.
public struct SegmentDescription: Sendable, Equatable, Codable {
    /// When the segment starts, from the presentation's start.
    public var start: Duration
    /// How long it plays.
    public var duration: Duration
    /// The size that the rendition's bit rate suggests, in bytes; used until the real size is known.
    public var estimatedByteCount: Int
    /// Whether the media of the segment's first bytes plays while its last ones are still missing: true of one track, or
    /// of tracks that are interleaved finely; not of a fragment that holds all of one track before the other.
    public var playsProgressively = false

    /// Describes a segment.
    public init(start: Duration, duration: Duration, estimatedByteCount: Int, playsProgressively: Bool = false) {
        self.start = start
        self.duration = duration
        self.estimatedByteCount = estimatedByteCount
        self.playsProgressively = playsProgressively
    }

    /// Decision logs from before ``playsProgressively`` say nothing of it.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        start = try values.decode(Duration.self, forKey: .start)
        duration = try values.decode(Duration.self, forKey: .duration)
        estimatedByteCount = try values.decode(Int.self, forKey: .estimatedByteCount)
        playsProgressively = try values.decodeIfPresent(Bool.self, forKey: .playsProgressively) ?? false
    }

    /// When the segment ends.
    public var end: Duration { start + duration }
}
