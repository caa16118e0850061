/// DYNAMIC: throughput while the buffer is low, BOLA once it is full enough to decide.
///
/// (Spiteri, Sitaraman, Sparacio, 2018, as in Sabre; with a buffer of 10 s it never leaves the throughput rule.)
struct DynamicRule: Sendable, Equatable {
    private static let lowMilliseconds = 10_000.0

    private var bola: BolaRule
    private var rateRule = ThroughputRule()
    private var trustsBuffer = false

    init(ladder: BitrateLadder, minimisesOscillation: Bool) {
        bola = BolaRule(ladder: ladder, minimisesOscillation: minimisesOscillation, isBasic: false)
    }

    mutating func choose(
        _ situation: borrowing BitrateSituation, at throughput: ThroughputEstimate, ladder: BitrateLadder
    ) -> BitrateDecision {
        // Both are asked each time: each remembers its last choice.
        let fromBuffer = bola.choose(situation, at: throughput, ladder: ladder)
        let fromRate = rateRule.choose(situation, at: throughput, ladder: ladder)
        if trustsBuffer {
            trustsBuffer = situation.bufferMilliseconds >= Self.lowMilliseconds || fromBuffer.rung >= fromRate.rung
        } else {
            trustsBuffer = situation.bufferMilliseconds > Self.lowMilliseconds && fromBuffer.rung >= fromRate.rung
        }
        return trustsBuffer ? fromBuffer : fromRate
    }

    func abandon(_ progress: SegmentProgress, latency: Double, ladder: BitrateLadder) -> Int? {
        rateRule.abandon(progress, latency: latency, ladder: ladder)
    }
}
