/// What a choice of bitrate rests on, apart from the estimates.
///
/// Times are milliseconds and rates kilobits a second, which are bits a millisecond.
public struct BitrateSituation: Sendable, Equatable {
    /// Media ahead of the playhead.
    public var bufferMilliseconds: Double
    /// The most that can be ahead: the buffer's size, or in live the distance from the playhead to the live edge.
    public var capacityMilliseconds: Double
    /// Duration of the segment to choose for.
    public var segmentMilliseconds: Double
    /// Segments chosen since playback began.
    public var segmentIndex: Int
    /// Segments to come, this one included; `nil` in live.
    public var segmentsLeft: Int?
    /// The rung of the segment before, where several are fetched at once; `nil` for the one that arrived last.
    public var previousRung: Int?
    /// The highest rung that ``BitrateLadder/highestRung(within:)`` allows.
    public var highestRung: Int
    /// Bits of the segment at each rung, where an index tells; else empty.
    public var segmentBits: [Double]
    /// What needn't come from the CDN, at each rung; empty without peers and store.
    public var offers: [SegmentOffer]
    /// What the access link can take, where it is known.
    public var accessKilobitsPerSecond: Double?

    public init(
        bufferMilliseconds: Double, capacityMilliseconds: Double, segmentMilliseconds: Double, segmentIndex: Int,
        segmentsLeft: Int? = nil, highestRung: Int, segmentBits: [Double] = [], offers: [SegmentOffer] = [],
        accessKilobitsPerSecond: Double? = nil, previousRung: Int? = nil
    ) {
        self.bufferMilliseconds = bufferMilliseconds
        self.capacityMilliseconds = capacityMilliseconds
        self.segmentMilliseconds = segmentMilliseconds
        self.segmentIndex = segmentIndex
        self.segmentsLeft = segmentsLeft
        self.highestRung = highestRung
        self.segmentBits = segmentBits
        self.offers = offers
        self.accessKilobitsPerSecond = accessKilobitsPerSecond
        self.previousRung = previousRung
    }
}
