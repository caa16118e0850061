/// A source's throughput as the mean of the last few transfers, each counting the same.
///
/// Quicker to forget than ``DualAverage``, and as easily led by one odd transfer. (GStreamer, and Sabre's other estimator.)
public struct SlidingAverage: Sendable, Equatable {
    /// How many transfers count, 1 to 32.
    public let window: Int
    private var samples: [ThroughputEstimate] = []
    /// Where the next sample goes.
    private var next = 0

    /// Makes an estimator with no sample.
    ///
    /// - Parameter window: How many transfers count; clamped to 1 to 32.
    public init(window: Int = 3) {
        self.window = min(max(window, 1), 32)
        samples.reserveCapacity(self.window)
    }

    /// Adds a transfer. Does nothing when it carried nothing or took no time.
    public mutating func add(_ sample: TransferSample) {
        guard sample.bits > 0, sample.milliseconds > 0 else { return }
        let estimate = ThroughputEstimate(
            kilobitsPerSecond: sample.bits / sample.milliseconds, latencyMilliseconds: sample.latencyMilliseconds)
        if samples.count < window { samples.append(estimate) } else { samples[next] = estimate }
        next = (next + 1) % window
    }

    /// The means; `nil` before the first sample.
    public var estimate: ThroughputEstimate? {
        guard !samples.isEmpty else { return nil }
        let count = Double(samples.count)
        return ThroughputEstimate(
            kilobitsPerSecond: samples.reduce(0) { $0 + $1.kilobitsPerSecond } / count,
            latencyMilliseconds: samples.reduce(0) { $0 + $1.latencyMilliseconds } / count)
    }
}
