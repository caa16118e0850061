internal import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Draws the instants at which viewers come, in order.
struct ArrivalSampler {
    private let plan: ArrivalPlan
    /// Seconds; a flash crowd's viewers all come before it.
    private let duration: Double
    /// The waves of a flash crowd.
    private let waves: [Wave]
    private let waveArea: Double

    init(plan: ArrivalPlan, duration: Double) {
        self.plan = plan
        self.duration = duration
        if case .flashCrowd(let crowd) = plan {
            waves = crowd.waves.map { Wave($0, end: duration) }
        } else {
            waves = []
        }
        waveArea = waves.reduce(0) { $0 + $1.area }
    }

    /// - Returns: Seconds from the start of the run, rising; with the session length where a file says it.
    func draw(_ count: Int, using generator: inout SeededGenerator) -> [(seconds: Double, session: Duration?)] {
        switch plan {
        case .together(let start, let spread):
            return sorted(count) { seconds(start) + spread.inSeconds * generator.unitInterval() }
        case .poisson(let start, let perSecond):
            return gaps(count, from: seconds(start), mean: 1 / perSecond, using: &generator)
        case .poissonOver(let start, let span):
            return gaps(count, from: seconds(start), mean: span.inSeconds / Double(count), using: &generator)
        case .flashCrowd(let crowd):
            return sorted(count) { self.draw(crowd, using: &generator) }
        case .listed(let list):
            if count == list.count { return list.map { (seconds($0.instant), $0.session) } }
            let drawn = (0..<count).map { _ in generator.index(below: list.count) }.sorted()
            return drawn.map { (seconds(list[$0].instant), list[$0].session) }
        }
    }

    /// One viewer of a crowd: the instants are independent of each other, which makes them a Poisson process with the
    /// crowd's rate, given their number.
    private func draw(_ crowd: FlashCrowd, using generator: inout SeededGenerator) -> Double {
        let choice = generator.unitInterval()
        let draw = generator.unitInterval()
        if choice < crowd.present { return min(duration, crowd.presentSpread.inSeconds) * draw }
        if choice < crowd.present + crowd.steady { return duration * draw }
        let rest = 1 - crowd.present - crowd.steady
        var left = (choice - crowd.present - crowd.steady) / max(1e-300, rest) * waveArea
        for wave in waves.dropLast() {
            if left < wave.area { return wave.quantile(draw) }
            left -= wave.area
        }
        return waves[waves.count - 1].quantile(draw)
    }

    /// A wave's rate over time, cut at the end of the run; its weight is the area of the uncut wave.
    private struct Wave {
        let peak: Double
        let ramp: Double
        let decay: Double
        let area: Double
        private let rise: Double
        private let fall: Double

        init(_ wave: FlashCrowd.Wave, end: Double) {
            peak = wave.peak.nanoseconds.seconds
            ramp = wave.ramp.inSeconds
            decay = wave.decay.inSeconds
            // Parts of the whole: the rise is a triangle, the fall an exponential, both as high at the peak.
            let whole = ramp / 2 + decay
            let reached = ramp > 0 ? min(1, max(0, (end - (peak - ramp)) / ramp)) : (end > peak ? 1 : 0)
            rise = ramp / 2 * reached * reached / whole
            fall = decay * -expm1(-max(0, end - peak) / decay) / whole
            area = wave.weight * (rise + fall)
        }

        func quantile(_ p: Double) -> Double {
            let whole = ramp / 2 + decay
            let share = p * (rise + fall)
            if share < rise { return peak - ramp + (2 * ramp * share * whole).squareRoot() }
            return peak - decay * log1p(-min((share - rise) * whole / decay, 1 - 0x1p-53))
        }
    }

    private func seconds(_ instant: MonotonicInstant) -> Double { instant.nanoseconds.seconds }

    private func sorted(_ count: Int, _ draw: () -> Double) -> [(seconds: Double, session: Duration?)] {
        (0..<count).map { _ in draw() }.sorted().map { ($0, nil) }
    }

    private func gaps(
        _ count: Int, from start: Double, mean: Double, using generator: inout SeededGenerator
    ) -> [(seconds: Double, session: Duration?)] {
        var now = start
        return (0..<count).map { _ in
            now -= mean * log1p(-generator.unitInterval())
            return (now, nil)
        }
    }
}

extension Int64 {
    fileprivate var seconds: Double { Double(self) / 1e9 }
}
