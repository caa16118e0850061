/// An exact time on a presentation's timeline, or a span of it: a fraction of a second.
///
/// Arithmetic is exact: a 128-bit intermediate reduced to 64-bit terms. Results whose reduced terms exceed 64 bits are
/// rounded to the nearest nanosecond, which only absurd timescales reach.
public struct MediaTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Numerator in lowest terms.
    public let ticks: Int64
    /// Denominator in lowest terms; always positive.
    public let timescale: Int64

    /// Makes the time `ticks / timescale` seconds.
    ///
    /// - Precondition: `timescale` is positive.
    public init(ticks: Int64, timescale: Int64) {
        precondition(timescale > 0, "a timescale is positive")
        self.init(reducing: Int128(ticks), over: Int128(timescale))
    }

    /// Makes a time from whole seconds.
    public init(seconds: Int64) {
        self.ticks = seconds
        self.timescale = 1
    }

    private init(reducing numerator: Int128, over denominator: Int128) {
        let divisor = Self.greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
        let reducedNumerator = numerator / Int128(divisor)
        let reducedDenominator = denominator / Int128(divisor)
        if let ticks = Int64(exactly: reducedNumerator), let timescale = Int64(exactly: reducedDenominator) {
            self.ticks = ticks
            self.timescale = timescale
            return
        }
        let (whole, rest) = reducedNumerator.quotientAndRemainder(dividingBy: reducedDenominator)
        let fraction = Double(rest) / Double(reducedDenominator)
        let clampedWhole = Int64(clamping: whole)
        let (scaled, overflow) = clampedWhole.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else {
            // Nanoseconds would not hold it, and whole seconds are exact enough for centuries.
            self.ticks = clampedWhole
            self.timescale = 1
            return
        }
        self.ticks = scaled &+ Int64((fraction * 1e9).rounded())
        self.timescale = 1_000_000_000
    }

    private static func greatestCommonDivisor(_ first: UInt128, _ second: UInt128) -> UInt128 {
        var (a, b) = (first, second)
        if a <= UInt128(UInt64.max), b <= UInt128(UInt64.max) {
            var (x, y) = (UInt64(a), UInt64(b))
            while y != 0 { (x, y) = (y, x % y) }
            return UInt128(max(x, 1))
        }
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }

    /// Zero.
    public static let zero = MediaTime(seconds: 0)

    /// The time in seconds, rounded to the nearest double.
    public var seconds: Double { Double(ticks) / Double(timescale) }

    /// The time as a `Duration`, rounded down to a nanosecond and clamped.
    public var duration: Duration {
        let nanoseconds = (Int128(ticks) * 1_000_000_000) / Int128(timescale)
        return .nanoseconds(Int64(clamping: nanoseconds))
    }

    /// The number of whole ticks of `timescale` in this time, rounded down and clamped to 64 bits.
    public func ticks(at timescale: Int64) -> Int64 {
        let (quotient, remainder) = (Int128(ticks) * Int128(timescale)).quotientAndRemainder(
            dividingBy: Int128(self.timescale))
        return Int64(clamping: remainder < 0 ? quotient - 1 : quotient)
    }

    /// The sum, exact.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        if left.timescale == right.timescale {
            return MediaTime(reducing: Int128(left.ticks) + Int128(right.ticks), over: Int128(left.timescale))
        }
        return MediaTime(
            reducing: Int128(left.ticks) * Int128(right.timescale) + Int128(right.ticks) * Int128(left.timescale),
            over: Int128(left.timescale) * Int128(right.timescale))
    }

    /// The difference, exact.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime { left + -right }

    /// The opposite.
    public static prefix func - (time: MediaTime) -> MediaTime {
        MediaTime(reducing: -Int128(time.ticks), over: Int128(time.timescale))
    }

    /// Adds exactly.
    public static func += (left: inout MediaTime, right: MediaTime) { left = left + right }

    /// The time `count` times over, exact.
    public static func * (time: MediaTime, count: Int64) -> MediaTime {
        MediaTime(reducing: Int128(time.ticks) * Int128(count), over: Int128(time.timescale))
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        Int128(left.ticks) * Int128(right.timescale) < Int128(right.ticks) * Int128(left.timescale)
    }

    public var description: String { timescale == 1 ? "\(ticks)s" : "\(ticks)/\(timescale)s" }
}
