import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What a source's past transfers say of its next one.
///
/// Rates are averaged as logarithms, since they vary by factors. A segment weighs at least as much as its media lasts:
/// weighed by transfer time alone, one slow segment would outweigh ten fast ones, and the belief would stay low for a
/// minute after a link has recovered.
struct RateBelief: Sendable, Equatable {
    /// After so many milliseconds an older sample counts half.
    private static let halfLife = 2500.0

    private var average = DecayingAverage()

    /// Adds a transfer of part of a segment whose media lasts `segment` milliseconds. Does nothing when it carried nothing or
    /// took no time.
    mutating func add(bits: Double, milliseconds: Double, segment: Double) {
        guard bits > 0, milliseconds > 0 else { return }
        average.add(log(bits / milliseconds), keeping: exp2(-max(milliseconds, segment) / Self.halfLife))
    }

    /// The natural logarithm of the rate in kilobits a second; `nil` before the first sample.
    var logRate: Double? { average.value }
}
