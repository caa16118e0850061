internal import CoreModel

/// A source's rate while something is loading from it, over a span of the recent past.
struct LoadingRate {
    private struct Sample {
        var at: MonotonicInstant
        var byteCount: Int
        var busy: Duration
    }

    /// Samples are joined within this, so that few have to be kept.
    private static let grain: Duration = .milliseconds(250)
    private static let memory: Duration = .seconds(30)

    private var samples: [Sample] = []
    private var last = MonotonicInstant.origin

    /// Loading begins, after a time without.
    mutating func begin(now: MonotonicInstant) { last = now }

    mutating func add(_ byteCount: Int, now: MonotonicInstant) {
        let busy = last.duration(to: now)
        last = now
        if let recent = samples.last, recent.at.duration(to: now) < Self.grain {
            samples[samples.count - 1].byteCount += byteCount
            samples[samples.count - 1].busy += busy
            return
        }
        samples.removeAll { $0.at.duration(to: now) > Self.memory }
        samples.append(Sample(at: now, byteCount: byteCount, busy: busy))
    }

    mutating func forget() { samples = [] }

    /// Bytes a second; `nil` without a sample.
    func bytesPerSecond(over window: Duration, now: MonotonicInstant) -> Double? {
        var byteCount = 0
        var busy = Duration.zero
        for sample in samples where sample.at.duration(to: now) <= window {
            byteCount += sample.byteCount
            busy += sample.busy
        }
        guard byteCount > 0 else { return nil }
        return Double(byteCount) / max(busy.inSeconds, 0.001)
    }
}
