/// How far the fetch of a segment is, or how it ended.
public struct SegmentProgress: Sendable, Equatable {
    /// The rung that is fetched.
    public var rung: Int
    /// The segment's whole size.
    public var bits: Double
    /// What has arrived.
    public var receivedBits: Double
    /// Since the request.
    public var milliseconds: Double
    /// From the request to the first byte.
    public var latencyMilliseconds: Double
    /// Duration of the segment's media.
    public var segmentMilliseconds: Double

    public init(
        rung: Int, bits: Double, receivedBits: Double, milliseconds: Double, latencyMilliseconds: Double,
        segmentMilliseconds: Double
    ) {
        self.rung = rung
        self.bits = bits
        self.receivedBits = receivedBits
        self.milliseconds = milliseconds
        self.latencyMilliseconds = latencyMilliseconds
        self.segmentMilliseconds = segmentMilliseconds
    }

    /// How long bytes have flowed.
    var transferMilliseconds: Double { milliseconds - latencyMilliseconds }

    /// What has not arrived.
    var remainingBits: Double { bits - receivedBits }
}
