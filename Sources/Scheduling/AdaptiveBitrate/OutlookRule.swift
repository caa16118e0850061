import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// This project's rule: the rung with the best outlook over the next segments.
///
/// A rung's outlook is its utility, less the stall that its fetch may cause, plus the worth of the buffer that it leaves
/// (``OutlookTable``). Stochastic model-predictive control, as in Fugu (Yan et al., NSDI 2020), with the search over future
/// segments done once per ladder. Where peers hold a rung's segment, it is preferred within a tolerance.
struct OutlookRule: Sendable {
    /// Standard deviation of the logarithm of a fetch's time around what is believed, where the segment's size is known…
    private static let deviation = 0.09
    /// …and where the bitrate stands for it.
    private static let sizeDeviation = 0.24
    /// How much of a change in utility a viewer minds: settles near ties for the rung that is playing.
    private static let switchPenalty = 0.05
    /// A fetch is left alone for so long after its first byte.
    private static let graceMilliseconds = 1000.0
    /// How much better a lower rung must be for a fetch to be given up: what has arrived is lost.
    private static let abandonMargin = 0.3
    /// Standard deviation in the choice whether to give up: the link has just shown that it changes.
    private static let abandonDeviation = 0.3
    /// After so much transfer, a fetch's own rate counts as much as the belief before it.
    private static let abandonHalfLife = 3000.0
    /// The share of the newest segment in the fading share of past ones, and that share at first.
    private static let fadeShare = 0.02
    private static let firstFade = 0.1
    /// With one segment of so many below the ladder, the link counts as a fading one.
    private static let fadeScale = 7.0

    private let table: OutlookTable
    private var preference: PeerPreference
    private var last: Int?
    /// The rung for which the fetch before was given up.
    private var replacement: Int?
    /// The share of segments that came slower than the lowest rung plays.
    private var fade = firstFade

    init(table: OutlookTable, peerTolerance: Double) {
        self.table = table
        preference = PeerPreference(tolerance: peerTolerance)
    }

    mutating func choose(
        _ situation: borrowing BitrateSituation, outlook: SourceOutlook, ladder: BitrateLadder
    ) -> BitrateDecision {
        if let rung = replacement {
            replacement = nil
            return BitrateDecision(rung: min(rung, situation.highestRung), reason: .abandoned)
        }
        let segment = situation.segmentMilliseconds
        let last = situation.previousRung ?? last
        let limit = max(situation.capacityMilliseconds - segment, 0)
        let deviation = situation.segmentBits.isEmpty ? Self.sizeDeviation : Self.deviation
        var choice = RungChoice()
        var preferred = RungChoice()
        for rung in 0...situation.highestRung {
            let time = outlook.fetchTime(of: rung, in: situation, ladder: ladder)
            var value = ladder.utilities[rung]
            if let last { value -= Self.switchPenalty * abs(ladder.utilities[rung] - ladder.utilities[last]) }
            for (point, weight) in OutlookTable.points {
                let factor = exp(deviation * point)
                value +=
                    weight
                    * table.outcome(
                        time: outlook.latency + time / factor, level: situation.bufferMilliseconds, segment: segment,
                        limit: limit, logRate: outlook.logRate + deviation * point, fade: fadeWeight)
            }
            choice.consider(rung, value: value)
            if !situation.offers.isEmpty {
                preferred.consider(rung, value: value + preference.bonus(situation.offers[rung]))
            }
        }
        if preferred.rung != choice.rung, !situation.offers.isEmpty,
            preference.accepts(preferred.rung, over: choice.rung, ladder: ladder)
        {
            return BitrateDecision(rung: preferred.rung, reason: .peersHold)
        }
        preference.followed()
        let isLimited = choice.rung == situation.highestRung && choice.rung < ladder.top
        return BitrateDecision(rung: choice.rung, reason: isLimited ? .limited : .outlook)
    }

    /// The rung to fetch in place of the fetch under way; `nil` to let it go on.
    func abandon(
        _ progress: SegmentProgress, recentRate: Double?, buffer: Double, capacity: Double, logRate: Double?,
        ladder: BitrateLadder
    ) -> Int? {
        guard progress.rung > 0, progress.receivedBits > 0, let recentRate,
            progress.transferMilliseconds > Self.graceMilliseconds
        else { return nil }
        // In the first segment of all the fetch itself is all that is known.
        let logRate = logRate ?? log(recentRate)
        let trust = 1 - exp2(-progress.transferMilliseconds / Self.abandonHalfLife)
        let believed = logRate + trust * (log(recentRate) - logRate)
        func outlook(_ rung: Int, bits: Double, latency: Double) -> Double {
            var value = ladder.utilities[rung]
            for (point, weight) in OutlookTable.points {
                let logRate = believed + Self.abandonDeviation * point
                value +=
                    weight
                    * table.outcome(
                        time: latency + bits / exp(logRate), level: buffer, segment: progress.segmentMilliseconds,
                        limit: max(capacity - progress.segmentMilliseconds, 0), logRate: logRate, fade: fadeWeight)
            }
            return value
        }
        var best: Int?
        var bestValue =
            outlook(progress.rung, bits: progress.remainingBits, latency: 0) + Self.abandonMargin
        for rung in 0..<progress.rung {
            let bits = progress.bits * ladder.kilobitsPerSecond[rung] / ladder.kilobitsPerSecond[progress.rung]
            guard bits < progress.remainingBits else { break }
            let value = outlook(rung, bits: bits, latency: progress.latencyMilliseconds)
            if value > bestValue { (best, bestValue) = (rung, value) }
        }
        return best
    }

    mutating func fetched(_ progress: SegmentProgress) { last = progress.rung }

    mutating func abandoned(for rung: Int) { replacement = rung }

    mutating func sought() { replacement = nil }

    /// Takes in the rate at which the network brought something.
    mutating func measured(rate: Double, ladder: BitrateLadder) {
        fade += Self.fadeShare * ((rate < ladder.kilobitsPerSecond[0] ? 1 : 0) - fade)
    }

    private var fadeWeight: Double { min(1, fade * Self.fadeScale) }
}

/// The best rung so far; the lowest of equals.
private struct RungChoice {
    var rung = 0
    var value = -Double.infinity

    mutating func consider(_ rung: Int, value: Double) {
        if value > self.value { (self.rung, self.value) = (rung, value) }
    }
}
