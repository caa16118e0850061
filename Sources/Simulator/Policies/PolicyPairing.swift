package import CommandLineSupport
internal import CoreModel

/// Runs with peers against runs without, seed by seed: what the design promises first is that viewers see nothing worse.
package struct PolicyPairing: Sendable {
    /// A promise, and what the runs say of it.
    package struct Check: Sendable {
        package let name: String
        package let meaning: String
        /// Over the seeds.
        package let interval: MeanInterval
        /// What decides: the end of the interval that is worse, or the mean where the promise is about that.
        package let value: Double
        package let limit: Double
        /// Whether the limit is a maximum.
        package let isMaximum: Bool

        package var holds: Bool { isMaximum ? value <= limit : value >= limit }
    }

    /// A viewer whose playback stood longer than without peers.
    package struct Victim: Sendable, Equatable {
        package let seed: UInt64
        /// In the order of arrival, from 0.
        package let viewer: Int
        package let stallSeconds: Double
        package let baselineStallSeconds: Double
    }

    package let checks: [Check]
    /// The worst first.
    package let victims: [Victim]
    package var holds: Bool { checks.allSatisfy(\.holds) }

    /// What counts as longer: less can be the order of two events.
    private static let tolerance = 0.05

    package init(runs: [SimulationResult], baseline: [SimulationResult]) {
        precondition(runs.map(\.seed) == baseline.map(\.seed), "pairs have the same seed")
        let pairs = Array(zip(runs, baseline))
        var checks: [Check] = []
        func check(
            _ name: String, _ meaning: String, atMost limit: Double, isOfMean: Bool = false,
            _ value: (SimulationResult, SimulationResult) -> Double?
        ) {
            guard let interval = MeanInterval(pairs.compactMap { value($0, $1) }) else { return }
            let decisive = isOfMean ? interval.mean : interval.high ?? interval.mean
            checks.append(
                Check(
                    name: name, meaning: meaning, interval: interval, value: decisive, limit: limit, isMaximum: true))
        }
        check(
            "stalledViewers", "share of viewers with a stall, above that without peers, upper end of 95 %",
            atMost: 0.001
        ) {
            Double($0.total.stalledViewers - $1.total.stalledViewers) / Double(max(1, $1.viewerCount))
        }
        check(
            "stallTime", "share of time stalled, above that without peers, upper end of 95 %", atMost: 0.0002
        ) { $0.total.stallSeconds / max($0.viewerSeconds, 1) - $1.total.stallSeconds / max($1.viewerSeconds, 1) }
        check("startup", "median start-up over that without peers", atMost: 1.02, isOfMean: true) {
            guard let own = $0.total.startupSecondsMedian, let other = $1.total.startupSecondsMedian else { return nil }
            return other > 0 ? own / other : nil
        }
        if let interval = MeanInterval(pairs.compactMap { run, other in Self.bitrateRatio(run, other) }) {
            checks.append(
                Check(
                    name: "bitrate", meaning: "mean bit rate over that without peers", interval: interval,
                    value: interval.mean, limit: 0.99, isMaximum: false))
        }
        self.checks = checks
        victims = pairs.flatMap { run, other in
            zip(run.viewers, other.viewers).enumerated().compactMap { index, pair in
                let (own, plain) = (pair.0.stallTime.inSeconds, pair.1.stallTime.inSeconds)
                guard own > plain + Self.tolerance else { return nil }
                return Victim(seed: run.seed, viewer: index, stallSeconds: own, baselineStallSeconds: plain)
            }
        }.sorted { ($1.excess, $0.seed, $0.viewer) < ($0.excess, $1.seed, $1.viewer) }
    }

    private static func bitrateRatio(_ run: SimulationResult, _ other: SimulationResult) -> Double? {
        guard let own = run.total.meanBitrate, let plain = other.total.meanBitrate, plain > 0 else { return nil }
        return own / plain
    }

    package var json: JSONValue {
        [
            "holds": .boolean(holds),
            "checks": .array(
                checks.map {
                    [
                        "name": .string($0.name), "meaning": .string($0.meaning), "mean": .number($0.interval.mean),
                        "value": .number($0.value), "limit": .number($0.limit), "isMaximum": .boolean($0.isMaximum),
                        "holds": .boolean($0.holds),
                    ]
                }),
            "viewersWithLongerStalls": .array(
                victims.map {
                    [
                        "seed": JSONValue($0.seed), "viewer": .integer($0.viewer),
                        "stallSeconds": .number($0.stallSeconds),
                        "stallSecondsWithoutPeers": .number($0.baselineStallSeconds),
                    ]
                }),
        ]
    }

    /// A line for each promise, then the worst viewers.
    package var lines: [String] {
        let checks = checks.map { check in
            "\(check.holds ? "holds" : "FAILS")  \(check.name): \(PolicyComparison.text(check.value, 5)), "
                + "\(check.isMaximum ? "at most" : "at least") \(PolicyComparison.text(check.limit, 4)) (\(check.meaning))"
        }
        let worst = victims.prefix(10).map {
            "seed \($0.seed), viewer \($0.viewer): stalled for \(PolicyComparison.text($0.stallSeconds, 2)) s, "
                + "\(PolicyComparison.text($0.baselineStallSeconds, 2)) s without peers"
        }
        return checks + worst
    }
}

extension PolicyPairing.Victim {
    fileprivate var excess: Double { stallSeconds - baselineStallSeconds }
}
