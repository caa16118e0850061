/// Chooses the highest rung that the throughput sustains, with a margin of a tenth.
///
/// Steady and simple, and it wastes what a full buffer affords. (dash.js's ThroughputRule and AbandonRequestsRule, with the
/// numbers of Sabre.)
struct ThroughputRule: Sendable, Equatable {
    private static let safety = 0.9
    /// A fetch is given up when it would take so many times its media's duration…
    private static let abandonMultiple = 1.8
    /// …but not before it had this time to get going.
    private static let graceMilliseconds = 500.0

    private var insufficientBuffer = InsufficientBuffer()

    mutating func choose(
        _ situation: borrowing BitrateSituation, at throughput: ThroughputEstimate, ladder: BitrateLadder
    ) -> BitrateDecision {
        let rung = ladder.rung(
            sustainedAt: throughput.kilobitsPerSecond * Self.safety, latency: throughput.latencyMilliseconds,
            segment: situation.segmentMilliseconds, limit: situation.highestRung)
        let safe = insufficientBuffer.cap(rung, in: situation, at: throughput, ladder: ladder)
        return BitrateDecision(rung: safe, reason: safe < rung ? .insufficientBuffer : .throughput)
    }

    /// The rung to fetch in place of the fetch under way; `nil` to let it go on.
    func abandon(_ progress: SegmentProgress, latency: Double, ladder: BitrateLadder) -> Int? {
        guard progress.milliseconds >= Self.graceMilliseconds, progress.transferMilliseconds > 0,
            progress.receivedBits > 0
        else {
            return nil
        }
        let rate = progress.receivedBits / progress.transferMilliseconds
        let total = progress.milliseconds + progress.remainingBits / rate
        guard total > Self.abandonMultiple * progress.segmentMilliseconds else { return nil }
        let rung = ladder.rung(
            sustainedAt: rate * Self.safety, latency: latency, segment: progress.segmentMilliseconds, limit: ladder.top)
        guard rung < progress.rung else { return nil }
        let bits = progress.bits * ladder.kilobitsPerSecond[rung] / ladder.kilobitsPerSecond[progress.rung]
        return bits < progress.remainingBits ? rung : nil
    }
}
