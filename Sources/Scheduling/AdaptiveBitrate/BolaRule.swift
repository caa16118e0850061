/// BOLA: the buffer alone decides, but a step up is held to what the throughput sustains.
///
/// Near the start and the end of a title it works with a smaller buffer, since a full one is not reached or not needed there.
/// (Spiteri, Urgaonkar, Sitaraman, 2016; the finite variant, as in Sabre.)
struct BolaRule: Sendable, Equatable {
    /// γ·p of the paper, in units of utility: the cost of an empty buffer.
    private static let caution = 5.0

    private let holdsBack: Bool
    private let isBasic: Bool
    private var score: BufferScore
    private var last = 0

    /// - Parameters:
    ///   - minimisesOscillation: Whether a step up waits until the throughput sustains it, rather than overshooting by one rung.
    ///   - isBasic: Whether the whole buffer is used from start to end, and nothing is abandoned.
    init(ladder: BitrateLadder, minimisesOscillation: Bool, isBasic: Bool) {
        score = BufferScore(ladder: ladder, lowestUtility: 0)
        score.caution = Self.caution
        holdsBack = minimisesOscillation
        self.isBasic = isBasic
    }

    mutating func choose(
        _ situation: borrowing BitrateSituation, at throughput: ThroughputEstimate, ladder: BitrateLadder
    ) -> BitrateDecision {
        score.spread = spread(situation, ladder: ladder)
        let wanted = score.best(level: situation.bufferMilliseconds, ladder: ladder, limit: situation.highestRung)
        var decision = BitrateDecision(rung: wanted, reason: .buffer)
        if wanted > last {
            let sustained = ladder.rung(
                sustainedAt: throughput.kilobitsPerSecond, latency: throughput.latencyMilliseconds,
                segment: situation.segmentMilliseconds, limit: situation.highestRung)
            if wanted > sustained {
                decision.reason = .heldBack
                if last > sustained {
                    decision.rung = last
                } else if holdsBack {
                    decision.rung = sustained
                    let level = score.highestLevel(for: sustained, ladder: ladder)
                    let excess = max(0, situation.bufferMilliseconds - level)
                    decision.delayMilliseconds = sustained == ladder.top ? 0 : excess
                } else {
                    decision.rung = sustained + 1
                }
            }
        }
        last = decision.rung
        return decision
    }

    mutating func abandon(_ progress: SegmentProgress, buffer: Double, ladder: BitrateLadder) -> Int? {
        guard !isBasic, progress.receivedBits > 0, progress.remainingBits > 0 else { return nil }
        guard score.gain(of: progress.rung, level: buffer) >= 0 else { return nil }
        let rung = score.better(
            than: progress, remainingBits: progress.remainingBits, level: buffer, ladder: ladder)
        if let rung { last = rung }
        return rung
    }

    /// V: at the top rung's utility, the buffer is one segment short of full.
    private func spread(_ situation: borrowing BitrateSituation, ladder: BitrateLadder) -> Double {
        var capacity = situation.capacityMilliseconds
        if !isBasic {
            let nearest = min(situation.segmentIndex, situation.segmentsLeft ?? .max)
            capacity = min(capacity, max(Double(nearest) / 2, 3) * situation.segmentMilliseconds)
        }
        // A live buffer can be as short as a segment.
        return max(capacity - situation.segmentMilliseconds, 100) / (score.utilities[ladder.top] + score.caution)
    }
}
