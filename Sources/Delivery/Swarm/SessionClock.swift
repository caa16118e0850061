package import CoreModel

/// The wall clock of a session: the tracker's, from its first welcome on; the system's until then, which may be wrong.
///
/// It decides about expiry only. From the first welcome on it never goes backwards.
package struct SessionClock {
    private var reference: (time: UnixTime, at: MonotonicInstant)?
    private var latest: UnixTime?

    /// Makes a clock that shows the system's time.
    package init() {}

    /// Takes over a tracker's time.
    package mutating func set(_ time: UnixTime, at now: MonotonicInstant) { reference = (time, now) }

    /// The time now.
    package mutating func time(at now: MonotonicInstant, system: UnixTime) -> UnixTime {
        guard let reference else { return system }
        let time = max(reference.time + reference.at.duration(to: now), latest ?? reference.time)
        latest = time
        return time
    }
}
