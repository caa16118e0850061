import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A source's throughput while it works, as a mean over its recent busy time.
///
/// Bytes and busy seconds decay together with a half-life of busy time, so that idle time neither lowers nor ages the
/// estimate and many small transfers weigh as much as one large one.
public struct ThroughputEstimator: Sendable, Equatable {
    /// After this much busy time a sample counts half.
    private let halfLife: Double
    private var byteCount = 0.0
    private var seconds = 0.0

    /// Makes an estimator with no sample.
    ///
    /// - Parameter halfLife: In busy seconds.
    public init(halfLife: Duration = .seconds(5)) {
        self.halfLife = halfLife.inSeconds
    }

    /// Adds `count` bytes that took `span` of busy time.
    public mutating func add(byteCount count: Int, over span: Duration) {
        let length = max(span.inSeconds, 0)
        let decay = pow(0.5, length / halfLife)
        byteCount = byteCount * decay + Double(count)
        seconds = seconds * decay + length
    }

    /// The estimate in bytes per second; `nil` before the first 16 KiB. Half a millisecond of busy time is the least that
    /// counts: what is faster than the clock can tell is fast enough.
    public var bytesPerSecond: Double? {
        guard byteCount >= 16_384 else { return nil }
        return byteCount / max(seconds, 0.0005)
    }
}
