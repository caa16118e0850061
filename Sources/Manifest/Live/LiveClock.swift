import CoreModel

/// The server's wall clock, as far as it is known.
///
/// It begins as this machine's clock and is corrected by what UTCTiming (ISO/IEC 23009-1, section 5.8.4.11) or, without it,
/// the `Date` of answers says. A date in whole seconds corrects a clock only that it contradicts.
struct LiveClock: Sendable {
    private let origin: MonotonicInstant
    private let local: UnixTime
    /// What the server's clock is ahead of this machine's.
    private(set) var offset = Duration.zero
    /// Whether UTCTiming has told.
    private(set) var isExact = false
    /// What the dates of all answers allow the offset to be, in milliseconds.
    private var bounds: ClosedRange<Int64>?

    /// Makes a clock that reads `wallClock` at `now`.
    init(wallClock: UnixTime, now: MonotonicInstant) {
        origin = now
        local = wallClock
    }

    private func localTime(at instant: MonotonicInstant) -> Int64 {
        (local + origin.duration(to: instant)).milliseconds
    }

    /// The server's time.
    func time(at instant: MonotonicInstant) -> UnixTime { UnixTime(milliseconds: localTime(at: instant)) + offset }

    /// The instant at which the server's clock reads `time`.
    func instant(at time: UnixTime) -> MonotonicInstant {
        let (ahead, overflow) = time.milliseconds.subtractingReportingOverflow(self.time(at: origin).milliseconds)
        return overflow ? .distantFuture : origin.advanced(by: .milliseconds(ahead))
    }

    /// Takes an exact time that a server gave in between two instants.
    mutating func set(_ time: UnixTime, sentAt: MonotonicInstant, receivedAt: MonotonicInstant) {
        let middle = sentAt.advanced(by: sentAt.duration(to: receivedAt) / 2)
        offset = .milliseconds(Self.difference(time.milliseconds, localTime(at: middle)))
        isExact = true
    }

    /// Takes the date of an answer, in whole seconds, and how many seconds it lay in caches since.
    mutating func note(date: UnixTime, age: Duration, sentAt: MonotonicInstant, receivedAt: MonotonicInstant) {
        guard !isExact else { return }
        let early = (date + age).milliseconds
        let low = Self.difference(early, localTime(at: receivedAt))
        let high = Self.difference(early, localTime(at: sentAt)).addingReportingOverflow(1_000).partialValue
        guard low <= high else { return }
        if let known = bounds, known.overlaps(low...high) {
            bounds = max(known.lowerBound, low)...min(known.upperBound, high)
        } else {
            bounds = low...high
        }
        guard let bounds, !bounds.contains(offset.inMilliseconds) else { return }
        offset = .milliseconds(bounds.contains(0) ? 0 : bounds.lowerBound / 2 + bounds.upperBound / 2)
    }

    private static func difference(_ one: Int64, _ other: Int64) -> Int64 {
        let (difference, overflow) = one.subtractingReportingOverflow(other)
        return overflow ? 0 : difference
    }
}
