/// A wall-clock time in milliseconds since 1970-01-01T00:00:00Z.
///
/// It decides about expiry only; order and pacing use ``MonotonicInstant``.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch; negative before it.
    public var milliseconds: Int64

    /// Makes a time from milliseconds since the epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Makes a time from seconds since the epoch.
    public init(seconds: Int64) {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : scaled
    }

    /// Whole seconds since the epoch, rounded towards the past.
    public var seconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : -((999 - milliseconds) / 1000)
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The time `duration` later.
    public static func + (time: UnixTime, duration: Duration) -> UnixTime {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.inMilliseconds)
        return UnixTime(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }
}
