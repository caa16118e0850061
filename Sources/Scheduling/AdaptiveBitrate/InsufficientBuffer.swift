/// Caps a choice at what the buffer can wait for: the rung's bits must fit a share of what the throughput brings before the
/// buffer is empty.
///
/// The share starts at 0.9 and falls by a tenth with each use to 0.5: at first the buffer is small because playback has
/// just begun, later because something went wrong.
struct InsufficientBuffer: Sendable, Equatable {
    private static let firstShare = 0.9
    private static let decay = 0.9
    private static let lastShare = 0.5

    private var share = firstShare

    /// The highest rung up to `rung` that is safe.
    mutating func cap(
        _ rung: Int, in situation: borrowing BitrateSituation, at throughput: ThroughputEstimate,
        ladder: BitrateLadder
    ) -> Int {
        let safeBits =
            share * (situation.bufferMilliseconds - throughput.latencyMilliseconds) * throughput.kilobitsPerSecond
        share = max(share * Self.decay, Self.lastShare)
        for lower in 0..<rung where ladder.kilobitsPerSecond[lower + 1] * situation.segmentMilliseconds > safeBits {
            return lower
        }
        return rung
    }
}
