@testable import Scheduling
import Testing

/// The published rules at points that their papers' formulas give by hand; whole playbacks are compared with Sabre's in
/// SimulatorTests.
@Suite struct PublishedRuleTests {
    private func rung(
        _ algorithm: BitrateAlgorithm, rate: Double, latency: Double = 0, buffer: Double = 20_000
    ) -> BitrateDecision {
        var bitrate = FourRungs.bitrate(algorithm)
        bitrate.measured(FourRungs.sample(rate, latency: latency))
        return bitrate.choose(FourRungs.situation(buffer: buffer))
    }

    @Test func `Throughput: nine tenths of the rate carry the segment and its latency`() {
        #expect(rung(.throughput, rate: 3000).rung == 1)
        #expect(rung(.throughput, rate: 2000).rung == 0)
        // 3 s × 2000 / 2700 = 2222 ms, which leaves 778 ms.
        #expect(rung(.throughput, rate: 3000, latency: 770).rung == 1)
        #expect(rung(.throughput, rate: 3000, latency: 785).rung == 0)
    }

    @Test func `Throughput: with a low buffer the rung's bits fit nine tenths of what the buffer's time brings`() {
        // 9,000 kbit/s sustain 8,000, whose 24 Mbit need 2,963 ms of buffer.
        #expect(rung(.throughput, rate: 9000, buffer: 2970) == BitrateDecision(rung: 3, reason: .throughput))
        #expect(rung(.throughput, rate: 9000, buffer: 2950) == BitrateDecision(rung: 2, reason: .insufficientBuffer))
    }

    @Test func `Throughput: a fetch that would take 1.8 segments is given up after half a second`() {
        var bitrate = FourRungs.bitrate(.throughput)
        bitrate.measured(FourRungs.sample(2300, latency: 0))
        // 400 kbit/s: 5.76 of 6 Mbit are left and would take 14.4 s; the lowest rung has 3 Mbit.
        #expect(bitrate.abandon(FourRungs.progress(1, received: 240_000, after: 600), buffer: 9000) == 0)
        #expect(bitrate.abandon(FourRungs.progress(1, received: 160_000, after: 400), buffer: 9000) == nil)
        // 1,200 kbit/s: 5 s in all.
        #expect(bitrate.abandon(FourRungs.progress(1, received: 720_000, after: 600), buffer: 9000) == nil)
        // 2.9 Mbit are left, fewer than the lowest rung has.
        #expect(bitrate.abandon(FourRungs.progress(1, received: 3_100_000, after: 7750), buffer: 9000) == nil)
    }

    /// V = 22 s / (ln 8 + 5) = 3107.5 ms; neighbouring rungs of twice the rate meet at V (5 + u − ln 2).
    @Test(arguments: [(0, 13_383.5), (1, 15_537.4), (2, 17_691.3)])
    func `BOLA: the rungs meet where its formula says`(lower: Int, level: Double) {
        #expect(rung(.bolaBasic, rate: 99_000, buffer: level - 5).rung == lower)
        #expect(rung(.bolaBasic, rate: 99_000, buffer: level + 5).rung == lower + 1)
    }

    @Test func `BOLA: a step up goes one rung beyond what the throughput sustains`() {
        #expect(rung(.bolaBasic, rate: 1500) == BitrateDecision(rung: 1, reason: .heldBack))
    }

    /// The buffer is max(25 s, 18 s), so γ = ln 8 / 1.5 and V = 10 s / γ = 7213.5 ms; the lowest rung is left at
    /// V (1 + γ − ln 2) = 12,213 ms.
    @Test func `BOLA-E: starts with what the throughput sustains, and its placeholder keeps it there`() {
        var bitrate = FourRungs.bitrate(.bolaE)
        bitrate.measured(FourRungs.sample(4500, latency: 0))
        #expect(bitrate.choose(FourRungs.situation(buffer: 3000, index: 1)).rung == 2)
        bitrate.fetched(FourRungs.progress(2, received: 12e6, after: 2700), buffer: 3300)
        bitrate.measured(FourRungs.sample(4500, latency: 0))
        #expect(bitrate.choose(FourRungs.situation(buffer: 6300, index: 2)).rung == 2)
    }

    @Test func `DYNAMIC: BOLA decides above 10 s of buffer, once it asks for as much`() {
        var bitrate = FourRungs.bitrate(.dynamic)
        bitrate.measured(FourRungs.sample(2300, latency: 0))
        #expect(bitrate.choose(FourRungs.situation(buffer: 9000)).reason == .throughput)
        #expect(bitrate.choose(FourRungs.situation(buffer: 15_000)).reason == .buffer)
        // Below 10 s, where BOLA asks for less, the throughput decides again.
        #expect(bitrate.choose(FourRungs.situation(buffer: 9000)).reason == .throughput)
    }

    @Test(arguments: BitrateAlgorithm.allCases)
    func `Every rule starts low, keeps to the limit and bears a live buffer shorter than a segment`(
        algorithm: BitrateAlgorithm
    ) {
        var configuration = BitrateConfiguration()
        configuration.algorithm = algorithm
        configuration.capacityMilliseconds = 2000
        configuration.segmentMilliseconds = 4000
        var bitrate = AdaptiveBitrate(ladder: FourRungs.ladder, configuration: configuration)
        var situation = BitrateSituation(
            bufferMilliseconds: 0, capacityMilliseconds: 2000, segmentMilliseconds: 4000, segmentIndex: 0,
            highestRung: 2)
        #expect(bitrate.choose(situation) == BitrateDecision(rung: 0, reason: .startup))
        for _ in 0..<20 {
            bitrate.measured(FourRungs.sample(100_000))
            situation.segmentIndex += 1
            situation.bufferMilliseconds = 1900
            let decision = bitrate.choose(situation)
            #expect((0...2).contains(decision.rung) && decision.delayMilliseconds.isFinite)
            bitrate.fetched(FourRungs.progress(decision.rung, received: 1, after: 100), buffer: 1900)
        }
    }
}
