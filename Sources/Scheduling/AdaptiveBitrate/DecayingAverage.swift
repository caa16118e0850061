/// An exponentially weighted average that is corrected for having started at zero.
struct DecayingAverage: Sendable, Equatable {
    private var weighted = 0.0
    /// What remains of the zero that it started at.
    private var zero = 1.0

    /// Adds a value; older ones keep `share` of their weight, 0 to 1.
    mutating func add(_ value: Double, keeping share: Double) {
        weighted = share * weighted + (1 - share) * value
        zero *= share
    }

    /// The average; `nil` before the first value of any weight.
    var value: Double? { zero < 1 ? weighted / (1 - zero) : nil }
}
