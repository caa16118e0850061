/// What a link carried over time: a rate per step, from the first step again when the last has ended.
///
/// The unit in which all trace formats meet. A rate of 0 is an outage; the whole trace always carries something, so that
/// a transfer over it ends.
package struct NetworkTrace: Sendable, Equatable {
    /// A span of constant rate.
    package struct Step: Sendable, Equatable {
        /// How long the rate holds; above zero.
        package var duration: Duration
        /// Payload bits a second; 0 in an outage.
        package var bitsPerSecond: Int
        /// The delay that each request pays once, where the format has one.
        package var latency: Duration

        package init(duration: Duration, bitsPerSecond: Int, latency: Duration = .zero) {
            self.duration = duration
            self.bitsPerSecond = bitsPerSecond
            self.latency = latency
        }
    }

    /// At least one step.
    package let steps: [Step]
    /// The sum of the steps' durations: after it, the trace starts again.
    package let duration: Duration
    /// Bits carried in one round of the trace, over its duration.
    package let meanBitsPerSecond: Double

    /// - Returns: `nil` when there is no step, a duration isn't above zero, a rate or latency is negative, or no step
    ///   carries anything.
    package init?(steps: [Step]) {
        var total = Duration.zero
        var bits = 0.0
        for step in steps {
            guard step.duration > .zero, step.bitsPerSecond >= 0, step.latency >= .zero else { return nil }
            total += step.duration
            bits += Double(step.bitsPerSecond) * (step.duration / .seconds(1))
        }
        guard bits > 0 else { return nil }
        self.steps = steps
        duration = total
        meanBitsPerSecond = bits / (total / .seconds(1))
    }
}
