import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Two exponentially weighted averages of a source's throughput, a fast one and a slow one; the smaller counts.
///
/// A drop shows at once in the fast average, a rise only when the slow one has followed: caution both ways. Samples weigh
/// by the time that their bytes flowed, latencies by the request. Both averages are corrected for having started at zero, so
/// that the first sample is the first estimate. (The estimator of dash.js, hls.js and Sabre.)
public struct DualAverage: Sendable, Equatable {
    private let fastHalfLife: Double
    private let slowHalfLife: Double
    private var fast = DecayingAverage()
    private var slow = DecayingAverage()
    private var fastLatency = DecayingAverage()
    private var slowLatency = DecayingAverage()

    /// Makes an estimator with no sample.
    ///
    /// - Parameters:
    ///   - fastHalfLife: After so much transfer time, an older sample counts half in the fast average.
    ///   - slowHalfLife: The same for the slow one.
    public init(fastHalfLife: Duration = .seconds(3), slowHalfLife: Duration = .seconds(8)) {
        self.fastHalfLife = fastHalfLife.inSeconds * 1000
        self.slowHalfLife = slowHalfLife.inSeconds * 1000
    }

    /// Adds a transfer. Does nothing when it carried nothing or took no time.
    ///
    /// - Parameter segment: Duration of a segment's media, in milliseconds. A latency decays by so much with each request,
    ///   so that both kinds of average look back over about the same playback time.
    public mutating func add(_ sample: TransferSample, segment: Double) {
        guard sample.bits > 0, sample.milliseconds > 0, segment > 0 else { return }
        let rate = sample.bits / sample.milliseconds
        fast.add(rate, keeping: exp2(-sample.milliseconds / fastHalfLife))
        slow.add(rate, keeping: exp2(-sample.milliseconds / slowHalfLife))
        fastLatency.add(sample.latencyMilliseconds, keeping: exp2(-segment / fastHalfLife))
        slowLatency.add(sample.latencyMilliseconds, keeping: exp2(-segment / slowHalfLife))
    }

    /// The smaller rate and the larger latency of the two; `nil` before the first sample.
    public var estimate: ThroughputEstimate? {
        guard let fast = fast.value, let slow = slow.value, let fastLatency = fastLatency.value,
            let slowLatency = slowLatency.value
        else { return nil }
        return ThroughputEstimate(
            kilobitsPerSecond: min(fast, slow), latencyMilliseconds: max(fastLatency, slowLatency))
    }
}
