/// What the CDN's line carries: its peak, and the 95th percentile that is often billed.
package struct DeliveryRate: Sendable, Equatable {
    /// What bills are based on: the means of five minutes.
    package static let billedWindow = 300
    /// With fewer windows than this there is no 95th percentile to speak of: it would be the maximum.
    package static let leastWindows = 20

    /// Seconds of the means that ``percentile95`` is of: ``billedWindow``, or 1 in a run with fewer than ``leastWindows`` of
    /// those.
    package let windowSeconds: Int
    /// The greatest mean of a second, in bits a second.
    package let peak: Double
    /// The least rate that at least 95 % of the windows do not exceed, in bits a second.
    package let percentile95: Double
    package let mean: Double

    /// - Parameter bytes: Of each second of the run.
    package init(_ bytes: [Int]) {
        let isLong = bytes.count >= Self.billedWindow * Self.leastWindows
        let window = isLong ? Self.billedWindow : 1
        windowSeconds = window
        // A window that the run's end cuts off is none.
        let means = stride(from: 0, through: bytes.count - window, by: window).map { start in
            Double(bytes[start..<start + window].reduce(0, +)) * 8 / Double(window)
        }
        peak = bytes.max().map { Double($0) * 8 } ?? 0
        percentile95 = SampleSummary(means, ends: []).percentile(95) ?? 0
        mean = bytes.isEmpty ? 0 : Double(bytes.reduce(0, +)) * 8 / Double(bytes.count)
    }
}
