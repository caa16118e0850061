public import CoreModel

/// Keeps one upload from filling the queues of the household's line: a congestion window on top of TCP's that backs off
/// when the round trip grows, after LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01).
///
/// Departures: it counts bytes and not packets; the delay is that of round trips, since peers share no clock; loss is
/// TCP's business.
public struct DelayPacer: Sendable {
    /// Bytes of the smallest window: one data frame, which is 66 ms at 2 Mbps.
    public static let minimumWindow = 16_384 + WireLimits.dataOverhead
    /// Bytes of the largest window; a second at 64 Mbps.
    public static let maximumWindow = 8 * 1024 * 1024
    /// Bytes of the first window.
    public static let initialWindow = 2 * minimumWindow
    /// The delay over the base that is aimed at.
    public static let target: Duration = .milliseconds(60)

    private enum Phase: Hashable {
        /// The window doubles each round trip until the delay reaches three quarters of the target.
        case slowStart
        /// The window follows the delay.
        case steady
        /// The window is at its smallest so that the queue drains and the base is seen again.
        case slowdown(until: MonotonicInstant, restore: Double)
    }

    /// Bytes that may be on their way (unacknowledged) at once.
    public var window: Int { Int(congestionWindow) }

    /// The smallest round trip of the last minutes; `nil` before the first sample.
    public var base: Duration? {
        var base = Int64.max
        for minute in 0..<Self.minuteCount { base = min(base, minima[minute]) }
        return base == .max ? nil : .nanoseconds(base)
    }

    /// Whether what was sent last waited in a queue that is its own doing: the line is full.
    public var isQueueing: Bool { (delay ?? .zero) * 4 > Self.target }

    /// How long what was sent last waited in queues and took to go out; `nil` before the first sample.
    public var delay: Duration? {
        guard let base, recent.0 != .max else { return nil }
        return .nanoseconds(min(recent.0, recent.1)) - base
    }

    private var congestionWindow = Double(initialWindow)
    private var threshold = Double(maximumWindow)
    private var phase = Phase.slowStart
    /// Minima of the last minutes in nanoseconds, a ring; those that have not been are the largest number.
    private var minima: InlineArray<10, Int64> = .init(repeating: .max)
    private var minute = 0
    private var minuteEnds: MonotonicInstant = .origin
    /// The last sample and the one before it, in nanoseconds: the smaller counts, so that one late answer does not slow
    /// the link.
    private var recent: (Int64, Int64) = (.max, .max)
    private var nextSlowdown: MonotonicInstant?
    private var nextDecrease: MonotonicInstant = .origin

    private static let minuteCount = 10

    /// Starts in slow start.
    public init() {}

    /// Takes a round-trip sample.
    ///
    /// - Parameters:
    ///   - roundTrip: From sending to the answer.
    ///   - acknowledged: Bytes that were acknowledged since the last sample.
    ///   - now: Not earlier than in the last call.
    public mutating func sample(_ roundTrip: Duration, acknowledged: Int, now: MonotonicInstant) {
        guard roundTrip > .zero else { return }
        note(roundTrip, now: now)
        let base = base ?? roundTrip
        let delay = .nanoseconds(min(recent.0, recent.1)) - base
        switch phase {
        case .slowdown(let end, let restore):
            guard now >= end else { return }
            threshold = restore
            phase = .slowStart
        case .slowStart:
            if delay * 4 > Self.target * 3 || congestionWindow >= threshold {
                phase = .steady
                // The first drain comes two round trips after slow start, the next ones nine times as long apart as they
                // take, so that they cost a tenth at most.
                if nextSlowdown == nil { nextSlowdown = now.advanced(by: roundTrip * 2) }
            } else {
                grow(by: min(Double(acknowledged) * gain(base), threshold - congestionWindow))
            }
        case .steady:
            if let due = nextSlowdown, now >= due {
                let length = roundTrip * 2
                phase = .slowdown(until: now.advanced(by: length), restore: congestionWindow)
                nextSlowdown = now.advanced(by: max(length * 10, .seconds(10)))
                congestionWindow = Double(Self.minimumWindow)
            } else if delay <= Self.target {
                grow(by: gain(base) * Double(acknowledged) * Self.step / congestionWindow)
            } else if now >= nextDecrease {
                let excess = delay.inSeconds / Self.target.inSeconds - 1
                let loss = max(-congestionWindow / 2, gain(base) * Self.step - congestionWindow * excess)
                congestionWindow = max(Double(Self.minimumWindow), congestionWindow + min(0, loss))
                nextDecrease = now.advanced(by: roundTrip)
            }
        }
    }

    /// Bytes that the window grows by in a round trip: a packet or two, so that a slow line's queue is met gently.
    private static let step = 2920.0

    /// A short base round trip makes the window grow more slowly (section 4.2 of the draft).
    private func gain(_ base: Duration) -> Double {
        1 / min(16, max(1, (2 * Self.target.inSeconds / max(base.inSeconds, 1e-6)).rounded(.up)))
    }

    private mutating func grow(by amount: Double) {
        congestionWindow = min(Double(Self.maximumWindow), congestionWindow + amount)
    }

    private mutating func note(_ roundTrip: Duration, now: MonotonicInstant) {
        let sample = roundTrip.nanosecondsClamped
        if now >= minuteEnds || recent.0 == .max {
            minuteEnds = now.advanced(by: .seconds(60))
            minute = (minute + 1) % Self.minuteCount
            minima[minute] = sample
        } else {
            minima[minute] = min(minima[minute], sample)
        }
        recent = (sample, recent.0)
    }
}
