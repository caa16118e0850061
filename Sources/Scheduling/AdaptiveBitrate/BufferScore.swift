import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// BOLA's score: what a rung adds to quality and safety per bit, at a buffer level.
///
/// The rung with the highest (V·(u + γ) − level) / rate is chosen: the fuller the buffer, the higher. V spreads the rungs over
/// the buffer, γ says how much an empty buffer costs against quality (Spiteri, Urgaonkar, Sitaraman, 2016).
struct BufferScore: Sendable, Equatable {
    /// ln(rate / lowest rate) of each rung, plus a constant.
    let utilities: [Double]
    /// V, in milliseconds of buffer per unit of utility.
    var spread = 1.0
    /// γ, in units of utility.
    var caution = 1.0

    /// - Parameter lowestUtility: What the lowest rung is worth.
    init(ladder: BitrateLadder, lowestUtility: Double) {
        // In this order, as everything here that BOLA-E compares: it compares a level with one that it has set itself before,
        // and how the two were rounded decides.
        let offset = lowestUtility - log(ladder.kilobitsPerSecond[0])
        utilities = ladder.kilobitsPerSecond.map { log($0) + offset }
    }

    /// The score of a rung, without the division by its size.
    func gain(of rung: Int, level: Double) -> Double { spread * (utilities[rung] + caution) - level }

    /// The best rung up to `limit` at a buffer `level` in milliseconds; the lowest of equals.
    func best(level: Double, ladder: BitrateLadder, limit: Int) -> Int {
        var best = 0
        var bestScore = -Double.infinity
        for rung in 0...limit {
            let score = gain(of: rung, level: level) / ladder.kilobitsPerSecond[rung]
            if score > bestScore { (best, bestScore) = (rung, score) }
        }
        return best
    }

    /// Above this level the rung scores best against all lower ones.
    func lowestLevel(for rung: Int, ladder: BitrateLadder) -> Double {
        let (rate, utility) = (ladder.kilobitsPerSecond[rung], utilities[rung])
        var level = 0.0
        for lower in 0..<rung where utilities[lower] < utility {
            let (lowerRate, lowerUtility) = (ladder.kilobitsPerSecond[lower], utilities[lower])
            level = max(level, spread * (caution + (rate * lowerUtility - lowerRate * utility) / (rate - lowerRate)))
        }
        return level
    }

    /// Above this level fetching the rung scores below waiting.
    func highestLevel(for rung: Int, ladder: BitrateLadder) -> Double {
        spread * (utilities[rung] + caution)
    }

    /// The lower rung that scores better for what is left of a fetch; `nil` when going on is best.
    ///
    /// A lower rung with more bits than are left never replaces it: that check is not part of the score, since at a high level
    /// the fewer bits left weigh against the fetch under way.
    func better(
        than progress: SegmentProgress, remainingBits: Double, level: Double, ladder: BitrateLadder
    ) -> Int? {
        var best: Int?
        var bestScore = gain(of: progress.rung, level: level) / remainingBits
        for rung in 0..<progress.rung {
            let bits = progress.bits * ladder.kilobitsPerSecond[rung] / ladder.kilobitsPerSecond[progress.rung]
            let score = gain(of: rung, level: level) / bits
            if bits < remainingBits, score > bestScore { (best, bestScore) = (rung, score) }
        }
        return best
    }
}
