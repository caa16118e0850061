public import CoreModel

/// A bucket that fills at a steady rate and is drained by use. It may go into debt, so that what can't be split (a frame)
/// is let through whole and paid back after.
public struct TokenBucket: Hashable, Sendable {
    private var level: Double
    private var updated: MonotonicInstant

    /// Makes a full bucket.
    public init(capacity: Double, now: MonotonicInstant) {
        level = capacity
        updated = now
    }

    /// What the bucket holds; negative while in debt.
    public mutating func level(rate: Double, capacity: Double, now: MonotonicInstant) -> Double {
        if now > updated {
            // Not through `Duration`, which calculates in 128 bits: this is done for each frame.
            level = min(capacity, level + Double(now.nanoseconds - updated.nanoseconds) * 1e-9 * rate)
            updated = now
        }
        return level
    }

    /// Takes `amount`, into debt if need be.
    public mutating func take(_ amount: Double) { level -= amount }

    /// When the bucket will hold more than nothing again.
    public func refilled(rate: Double) -> MonotonicInstant {
        guard level <= 0 else { return updated }
        guard rate > 0 else { return .distantFuture }
        return updated.advanced(by: .nanoseconds(Int64(min(-level / rate * 1e9, 9e18)) + 1))
    }
}
