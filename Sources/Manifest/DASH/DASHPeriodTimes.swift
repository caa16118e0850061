public import CoreModel

/// When a period begins and how long it is: ISO/IEC 23009-1, section 5.3.2.1.
public struct DASHPeriodTimes: Hashable, Sendable {
    /// Where it begins on the presentation's timeline; `nil` for a period that is announced only.
    public var start: MediaTime?
    /// How long it is; `nil` if nothing tells yet, or if the MPD contradicts itself.
    public var duration: MediaTime?

    /// Where it ends.
    public var end: MediaTime? {
        guard let start, let duration else { return nil }
        return start + duration
    }
}

extension DASHManifest {
    /// The times of each period, in order.
    ///
    /// A period begins at its @start, else where the one before ends, else at 0 if it is the first. It ends where the
    /// next begins, else after its @duration, else with the presentation.
    public var periodTimes: [DASHPeriodTimes] {
        var times: [DASHPeriodTimes] = []
        times.reserveCapacity(periods.count)
        for (index, period) in periods.enumerated() {
            // The first period of a live presentation without @start is announced only: it is available early.
            let start = period.start ?? (index > 0 ? times[index - 1].end : isDynamic ? nil : .zero)
            let next = index + 1 < periods.count ? periods[index + 1] : nil
            var end = next?.start
            if end == nil, let start, let duration = period.duration { end = start + duration }
            if end == nil, next == nil { end = mediaPresentationDuration }
            var duration: MediaTime?
            if let start, let end, end > start { duration = end - start }
            times.append(DASHPeriodTimes(start: start, duration: duration))
        }
        return times
    }

    /// How long the whole presentation is: as written, else up to the end of the last period; `nil` while unknown.
    public var totalDuration: MediaTime? { mediaPresentationDuration ?? periodTimes.last?.end }
}
