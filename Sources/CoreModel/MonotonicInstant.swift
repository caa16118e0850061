/// An instant of the driver's monotonic clock, in nanoseconds since an arbitrary origin.
///
/// Pure modules never read a clock: the driver passes `now` in, and a simulator passes virtual time. Wall-clock time is
/// ``UnixTime`` and media time is ``MediaTime``; the three never mix.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable, Codable, CustomStringConvertible {
    /// Nanoseconds since the clock's origin.
    public var nanoseconds: Int64

    /// Makes an instant from nanoseconds since the clock's origin.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's origin.
    public static let origin = MonotonicInstant(nanoseconds: 0)

    /// The latest instant that can be expressed; used as "never".
    public static let distantFuture = MonotonicInstant(nanoseconds: .max)

    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanosecondsClamped)
        return MonotonicInstant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    public func duration(to other: MonotonicInstant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .exactly(nanoseconds: overflow ? (other > self ? Int64.max : Int64.min) : difference)
    }

    /// The instant `duration` later.
    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: duration)
    }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public var description: String { "\(nanoseconds)ns" }
}

extension Duration {
    /// The span in whole seconds and what is left of it, as ``components`` has them.
    private var parts: (seconds: Int64, attoseconds: Int64) {
        let whole = attoseconds
        // Most spans are short, and the division of 128 bits is a slow one.
        if let short = Int64(exactly: whole) {
            let (seconds, rest) = short.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
            return (seconds, rest)
        }
        let seconds = whole / 1_000_000_000_000_000_000
        return (Int64(clamping: seconds), Int64(whole - seconds * 1_000_000_000_000_000_000))
    }

    /// The span in nanoseconds, clamped to what 64 bits hold (292 years).
    public var nanosecondsClamped: Int64 {
        let whole = attoseconds
        // Most spans are short, and the division of 128 bits is a slow one.
        if let short = Int64(exactly: whole) { return short / 1_000_000_000 }
        return Int64(clamping: whole / 1_000_000_000)
    }

    /// A span of so many seconds, clamped to what 64 bits hold in nanoseconds; none for what is no number.
    public static func clamping(seconds: Double) -> Duration { exactly(nanoseconds: nanoseconds(clamping: seconds)) }

    /// The same in nanoseconds.
    @inlinable
    public static func nanoseconds(clamping seconds: Double) -> Int64 {
        seconds.isNaN ? 0 : Int64(min(max(seconds * 1e9, -9.2e18), 9.2e18))
    }

    // The same as the standard library's, whose code for 128 bits is neither inlined nor the processor's own.

    @inlinable @inline(__always)
    public static func < (left: Duration, right: Duration) -> Bool { left.attoseconds < right.attoseconds }

    @inlinable @inline(__always)
    public static func > (left: Duration, right: Duration) -> Bool { left.attoseconds > right.attoseconds }

    @inlinable @inline(__always)
    public static func <= (left: Duration, right: Duration) -> Bool { left.attoseconds <= right.attoseconds }

    @inlinable @inline(__always)
    public static func >= (left: Duration, right: Duration) -> Bool { left.attoseconds >= right.attoseconds }

    @inlinable @inline(__always)
    public static func + (left: Duration, right: Duration) -> Duration {
        Duration(attoseconds: left.attoseconds + right.attoseconds)
    }

    @inlinable @inline(__always)
    public static func - (left: Duration, right: Duration) -> Duration {
        Duration(attoseconds: left.attoseconds - right.attoseconds)
    }

    /// The same as the operators for any kind of integer, which go through generic arithmetic.
    public static func * (left: Duration, right: Int) -> Duration {
        Duration(attoseconds: left.attoseconds * Int128(right))
    }

    /// The same for division; rounds towards zero.
    public static func / (left: Duration, right: Int) -> Duration {
        // Most spans are short, and the division of 128 bits is a slow one.
        if let short = Int64(exactly: left.attoseconds) {
            return Duration(attoseconds: Int128(short / Int64(right)))
        }
        return Duration(attoseconds: left.attoseconds / Int128(right))
    }

    /// The same as `nanoseconds(_:)`, which goes through generic arithmetic.
    static func exactly(nanoseconds: Int64) -> Duration {
        Duration(attoseconds: Int128(nanoseconds) * 1_000_000_000)
    }

    /// The span in seconds.
    public var inSeconds: Double {
        let (seconds, attoseconds) = parts
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// The span in whole milliseconds, rounded towards zero and clamped to what 64 bits hold.
    public var inMilliseconds: Int64 { nanosecondsClamped / 1_000_000 }
}
