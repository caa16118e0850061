/// BOLA-E: BOLA with a virtual buffer that makes up for segments that could have been there.
///
/// After a seek, a start or a wait for room the buffer says less than the network could do. A placeholder, as if segments had
/// been fetched, stands in for what is missing; it never pretends more than the throughput and the buffer justify. (Spiteri,
/// Sitaraman, Sparacio, 2018; the numbers are those of dash.js and Sabre.)
struct EnhancedBolaRule: Sendable, Equatable {
    /// The level at which the lowest rung stops being the choice: 10 s, and 2 s more of buffer per rung.
    private static let minimumMilliseconds = 10_000.0
    private static let millisecondsPerRung = 2000.0

    /// Utilities of this rule start at 1.
    private static let lowestUtility = 1.0

    private let holdsBack: Bool
    private let score: BufferScore
    private var insufficientBuffer = InsufficientBuffer()
    private var hasStarted = false
    private var placeholder = 0.0
    private var last = 0

    /// - Parameters:
    ///   - minimisesOscillation: Whether a step up waits until the throughput sustains it, rather than overshooting by one rung.
    ///   - capacity: The size of the buffer in milliseconds.
    init(ladder: BitrateLadder, capacity: Double, minimisesOscillation: Bool) {
        holdsBack = minimisesOscillation
        let buffer = max(Self.minimumMilliseconds + Self.millisecondsPerRung * Double(ladder.count), capacity)
        var score = BufferScore(ladder: ladder, lowestUtility: Self.lowestUtility)
        // A ladder of one rung has no utility to spread.
        let range = max(score.utilities[ladder.top] - Self.lowestUtility, 0.01)
        score.caution = range / (buffer / Self.minimumMilliseconds - 1)
        score.spread = Self.minimumMilliseconds / score.caution
        self.score = score
    }

    mutating func choose(
        _ situation: borrowing BitrateSituation, at throughput: ThroughputEstimate, ladder: BitrateLadder
    ) -> BitrateDecision {
        let sustained = ladder.rung(
            sustainedAt: throughput.kilobitsPerSecond, latency: throughput.latencyMilliseconds,
            segment: situation.segmentMilliseconds, limit: situation.highestRung)
        let level = situation.bufferMilliseconds
        guard hasStarted else {
            hasStarted = true
            insufficientBuffer = InsufficientBuffer()
            placeholder = max(0, score.lowestLevel(for: sustained, ladder: ladder) - level)
            return BitrateDecision(rung: sustained, reason: .throughput)
        }
        var decision = BitrateDecision(
            rung: score.best(level: level + placeholder, ladder: ladder, limit: situation.highestRung), reason: .buffer)
        if decision.rung > last, decision.rung > sustained {
            decision.rung = max(last, sustained) + (holdsBack ? 0 : 1)
            decision.reason = .heldBack
        }
        decision.rung = min(decision.rung, situation.highestRung)
        let excess = level + placeholder - score.highestLevel(for: decision.rung, ladder: ladder)
        if excess > 0 {
            decision.delayMilliseconds = max(0, excess - placeholder)
            placeholder = max(0, placeholder - excess)
        }
        if decision.rung == ladder.top { decision.delayMilliseconds = 0 }
        let safe = insufficientBuffer.cap(decision.rung, in: situation, at: throughput, ladder: ladder)
        if safe < decision.rung {
            decision = BitrateDecision(rung: safe, reason: .insufficientBuffer)
            lowerPlaceholder(to: score.lowestLevel(for: safe, ladder: ladder) - level)
        }
        return decision
    }

    /// Playback waited for room in the buffer: the network could have brought more.
    mutating func waited(milliseconds: Double) { placeholder += milliseconds }

    /// A segment arrived; `buffer` counts it.
    mutating func fetched(_ progress: SegmentProgress, buffer: Double, ladder: BitrateLadder) {
        last = progress.rung
        let levelBefore = buffer + progress.milliseconds
        lowerPlaceholder(to: score.highestLevel(for: progress.rung, ladder: ladder) - levelBefore)
        if buffer > 0 {
            placeholder = max(placeholder, score.lowestLevel(for: progress.rung, ladder: ladder) - levelBefore)
        }
    }

    /// A fetch was given up for `rung`: something went wrong, so the placeholder falls to what that rung needs.
    mutating func abandoned(_ progress: SegmentProgress, for rung: Int, buffer: Double, ladder: BitrateLadder) {
        last = progress.rung
        let level = rung > 0 ? score.lowestLevel(for: rung, ladder: ladder) : Self.minimumMilliseconds
        lowerPlaceholder(to: level - buffer)
    }

    mutating func sought() { hasStarted = false }

    func abandon(_ progress: SegmentProgress, buffer: Double, ladder: BitrateLadder) -> Int? {
        guard progress.receivedBits > 0, progress.remainingBits > 0, progress.transferMilliseconds > 0 else {
            return nil
        }
        // Another request costs its latency, in which this one would go on.
        let level = max(0, buffer + placeholder - progress.latencyMilliseconds)
        let rate = progress.receivedBits / progress.transferMilliseconds
        let remaining = progress.remainingBits - progress.latencyMilliseconds * rate
        guard remaining > 0 else { return nil }
        return score.better(than: progress, remainingBits: remaining, level: level, ladder: ladder)
    }

    private mutating func lowerPlaceholder(to most: Double) { placeholder = min(placeholder, max(0, most)) }
}
