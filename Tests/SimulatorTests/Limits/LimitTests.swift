import CoreModel
import Foundation
import Simulator
import Testing

/// The bounds against published tables and Monte Carlo figures of peer-assisted streaming.
@Suite struct LimitTests {
    /// Offload 1 − 1/H(T) by time left and delay per hop, both in units of one upload.
    static let multiplication: [(time: Double, offloads: [Double])] = [
        (1.0, [0.5, 0.0, 0, 0]), (2, [0.75, 0.5, 0.5, 0.5]), (3, [0.875, 0.75, 0.75, 0.667]),
        (4, [0.938, 0.875, 0.857, 0.8]), (6, [0.984, 0.969, 0.952, 0.923]), (8, [0.996, 0.992, 0.985, 0.971]),
    ]

    @Test(arguments: multiplication) func copiesMultiplyAsInTheTable(time: Double, offloads: [Double]) {
        for (delay, offload) in zip([0, 0.1, 0.5, 1], offloads) {
            #expect(abs(1 - 1 / HardLimits.copies(after: time, delay: delay) - offload) < 0.0006, "\(delay)")
        }
    }

    @Test func copiesSatisfyTheRecursionTheyStandFor() {
        func recursive(_ time: Double, _ delay: Double) -> Double {
            var sum = 1.0
            var j = 1.0
            while j + delay <= time + 1e-9 {
                sum += recursive(time - j - delay, delay)
                j += 1
            }
            return sum
        }
        for time in stride(from: 0.0, through: 9, by: 0.5) {
            for delay in [0.0, 0.25, 0.5, 1, 1.5] {
                #expect(HardLimits.copies(after: time, delay: delay) == recursive(time, delay))
            }
        }
    }

    @Test func theDeadlineExampleIsThePublishedOne() {
        // 5 Mbps, segments of 4 s passed on whole, 5 Mbps of uplink: 12 s after the first copy cap offload at 87.5 %.
        let limit = HardLimits.deadline(
            room: .seconds(14), firstCopySeconds: 2, unitBits: 20e6, largestUplink: 5e6)
        #expect(limit.value == 0.875)
        #expect(limit.strength == .hard)
        // With chunks of 16 KiB the deadline is no bound.
        #expect(HardLimits.deadline(room: .seconds(6), firstCopySeconds: 2, largestUplink: 5e6).value == 1)
    }

    /// Savings by mean concurrency for uplinks of 0.25, 0.5, 0.8 and 1 times the bit rate.
    static let savings: [(concurrency: Double, savings: [Double])] = [
        (0.5, [0.098, 0.197, 0.213, 0.213]), (1, [0.158, 0.316, 0.368, 0.368]), (2, [0.216, 0.432, 0.565, 0.568]),
        (5, [0.248, 0.497, 0.766, 0.801]), (8.33, [0.250, 0.500, 0.797, 0.880]), (20, [0.250, 0.500, 0.800, 0.950]),
        (100, [0.250, 0.500, 0.800, 0.990]),
    ]

    @Test(arguments: savings) func smallSwarmsSaveAsInTheTable(concurrency: Double, savings: [Double]) {
        for (ratio, saving) in zip([0.25, 0.5, 0.8, 1], savings) {
            let limit = SoftLimits.swarmSize(concurrency: concurrency, uplinkRatio: ratio)
            #expect(abs(limit.value - saving) < 0.0006, "\(ratio)")
            #expect(limit.strength == .soft)
        }
        let closed = 1 - (1 - exp(-concurrency)) / concurrency
        #expect(abs(SoftLimits.swarmSize(concurrency: concurrency, uplinkRatio: 3).value - closed) < 1e-9)
    }

    @Test func largeSwarmsSaveWhatTheClosedFormSays() {
        #expect(abs(SoftLimits.swarmSize(concurrency: 1e5, uplinkRatio: 1).value - (1 - 1e-5)) < 1e-7)
    }

    /// Lognormal uplinks with a standard deviation of half the mean.
    private func uplinks(_ count: Int, mean: Double, using generator: inout SeededGenerator) -> [Double] {
        let distribution = Distribution.lognormal(mean: mean, sigma: log(1.25).squareRoot())
        return (0..<count).map { _ in distribution.draw(using: &generator) }
    }

    /// The server rate that a random population needs: by the formula, and drawn in a published simulation.
    @Test(arguments: [(100, 1.0, 2.53, 2.44), (1000, 0.8, 200.0, 200.6)])
    func randomPopulationsNeedThePublishedServerRate(
        count: Int, mean: Double, formula: Double, simulated: Double
    ) {
        let expected = SoftLimits.expectedServerRate(
            viewerCount: count, meanUplink: mean, standardDeviation: mean / 2, bitsPerSecond: 1)
        #expect(abs(expected - formula) < 0.01)
        var generator = SeededGenerator(seed: 11)
        let runs = 200_000 / count
        let drawn = (0..<runs).reduce(0.0) { sum, _ in
            let limit = SoftLimits.fluid(
                uplinks: uplinks(count, mean: mean, using: &generator), bitsPerSecond: 1)
            return sum + (1 - limit.value) * Double(count) / Double(runs)
        }
        // Three standard errors of the mean: a run's need varies by up to 0.5·ū·√N.
        let error = mean / 2 * (Double(count) / Double(runs)).squareRoot()
        #expect(abs(drawn - simulated) < 3 * error)
    }

    /// Monte Carlo figures for 100 viewers in order: offload by mean uplink over bit rate.
    @Test(arguments: [(0.8, 0.792, 0.802), (1, 0.954, 0.976), (1.2, 0.985, 0.99), (2, 0.99, 0.99)])
    func orderCostsWhatWasPublished(mean: Double, ordered: Double, unordered: Double) {
        var generator = SeededGenerator(seed: 23)
        let runs = 600
        var sums = (order: 0.0, fluid: 0.0)
        for _ in 0..<runs {
            let drawn = uplinks(100, mean: mean, using: &generator)
            sums.order += SoftLimits.order(uplinks: drawn, bitsPerSecond: 1).value / Double(runs)
            sums.fluid += SoftLimits.fluid(uplinks: drawn, bitsPerSecond: 1).value / Double(runs)
        }
        #expect(abs(sums.order - ordered) < 0.006)
        // The published unordered bound is that of the mean, min(1 − 1/N, ū/r), or of the draws.
        let ofTheMean = min(0.99, mean)
        let distance = min(abs(sums.fluid - unordered), abs(ofTheMean - unordered))
        #expect(distance < 0.006)
        #expect(sums.order <= sums.fluid + 1e-12)
    }

    @Test func fluidIsTheLeastOfFirstCopyAndMeanUplink() {
        #expect(SoftLimits.fluid(uplinks: Array(repeating: 2, count: 10), bitsPerSecond: 1).value == 0.9)
        #expect(abs(SoftLimits.fluid(uplinks: Array(repeating: 0.5, count: 10), bitsPerSecond: 1).value - 0.5) < 1e-12)
    }

    /// The simulated part of the bound that 1,000 viewers with uplinks of 2 r reach with K sources and D seconds of room.
    @Test(arguments: [
        (1, 7.0, 0.28), (4, 7, 0.88), (8, 7, 0.998), (16, 7, 0.9995), (16, 8, 1), (16, 6, 0.997), (16, 5, 0.97),
        (16, 4, 0.82),
    ])
    func injectionIsNeverBelowWhatWasSimulated(sources: Int, room: Double, reached: Double) {
        let rate = 5e6
        let limit = HardLimits.injection(
            room: .seconds(room), segmentBits: 4 * rate, frontUplinks: Double(sources) * 2 * rate,
            unitSeconds: 16384 * 8 / (2 * rate), viewerCount: 1000, frontCount: sources)
        #expect(limit.value >= reached * 0.999)
    }

    @Test func injectionBindsWithoutRoom() {
        func limit(_ room: Duration, front: Double = 10e6) -> Double {
            HardLimits.injection(
                room: room, segmentBits: 20e6, frontUplinks: front, unitSeconds: 0.0131, viewerCount: 1000,
                frontCount: 1
            ).value
        }
        // segment / Σ uplinks is 2 s, and ten doublings of 13 ms come on top.
        let needed = HardLimits.injectionRoom(
            segmentBits: 20e6, frontUplinks: 10e6, unitSeconds: 0.0131, viewerCount: 1000, frontCount: 1)
        #expect(abs(needed / .seconds(1) - (2 + 0.0131 * log2(1000))) < 1e-9)
        #expect(limit(needed) > 0.998)
        #expect(limit(.seconds(1)) < 0.999)
        // A hundredth of the needed uplink takes a hundred and one copies or so.
        #expect(abs(limit(.seconds(1), front: 0.2e6) - (1 - 0.1)) < 0.02)
        #expect(limit(.zero) < 0.01)
        let rising = stride(from: 0.0, through: 3, by: 0.1).map { limit(.seconds($0)) }
        #expect(rising == rising.sorted())
    }

    @Test func firstCopyAndReachCountBytes() {
        // N viewers of the same live stream at one quality: 1 − 1/N.
        #expect(HardLimits.firstCopy(distinctBytes: 1, deliveredBytes: 100).value == 0.99)
        #expect(HardLimits.reach(reachableBytes: 70, deliveredBytes: 100).value == 0.7)
        #expect(HardLimits.firstCopy(distinctBytes: 0, deliveredBytes: 0).value == 0)
        #expect(SoftLimits.warmUp(.seconds(4), watched: .seconds(600)).value == 1 - 4.0 / 600)
        #expect(abs(SoftLimits.isolation(pairSuccess: 0.78, candidates: 3) - 0.010648) < 1e-9)
    }

    /// The ceiling of 65 % uploaders with a cap of 1 × download.
    @Test func capsAndLeechesBoundTheUplink() throws {
        let scenario = try TestScenario.make(
            population: #""population": {"viewers": 1000, "leechOnly": 0.35}"#,
            more: #", "uploads": {"shareOfDownload": 1}"#)
        let population = try Population(scenario, seed: 1)
        let bytes = 5e6 / 8 * 600
        let uploadable = population.uploadableBytes(
            onlineSeconds: Array(repeating: 600, count: 1000), downloadedBytes: Array(repeating: bytes, count: 1000),
            scenario: scenario)
        let limit = HardLimits.uplink(uploadableBytes: uploadable, deliveredBytes: bytes * 1000)
        #expect(abs(limit.value - 0.65 * HardLimits.mediaShare) < 1e-9)
        #expect(HardLimits.mediaShare > 0.99 && HardLimits.mediaShare < 1)
    }

    @Test func sharedLinesAndSitesBoundTheUplink() throws {
        func uploadable(_ shared: String) throws -> Double {
            let scenario = try TestScenario.make(
                links: #""links": {"classes": [{"name": "a", "down": "1Gbps", "up": "1Gbps", \#(shared)}]}"#,
                more: #", "uploads": {"unlimited": true}"#)
            return try Population(scenario, seed: 1).uploadableBytes(
                onlineSeconds: Array(repeating: 600, count: 100), downloadedBytes: Array(repeating: 0, count: 100),
                scenario: scenario)
        }
        #expect(
            try uploadable(#""sharedAccess": {"viewers": 10, "down": "1Gbps", "up": "8Mbps"}"#) == 10 * 1e6 * 600)
        #expect(try uploadable(#""site": {"down": "1Gbps", "up": "8Mbps", "lan": "80Mbps"}"#) == 11e6 * 600)
        #expect(try uploadable(#""site": {"down": "1Gbps", "up": "8Mbps"}"#) == 100 * 1.25e8 * 600)
    }

    /// The trace gives 8 Mbps for 100 s and nothing for 200 s: what a viewer can give depends on where it enters, and all
    /// together give the mean.
    @Test func aTraceBoundsTheUplinkByThePartLivedThrough() throws {
        let scenario = try TestScenario.make(
            population: #""population": {"viewers": 2000}"#,
            links:
                #""links": {"classes": [{"name": "a", "trace": {"steps": [{"length": "100s", "down": "9Mbps", "up": "8Mbps"}, {"length": "200s", "down": "9Mbps", "up": "0bps"}]}}]}"#,
            more: #", "uploads": {"unlimited": true}"#)
        let population = try Population(scenario, seed: 1)
        func uploadable(_ seconds: Double) -> Double {
            population.uploadableBytes(
                onlineSeconds: Array(repeating: seconds, count: 2000),
                downloadedBytes: Array(repeating: 0, count: 2000), scenario: scenario)
        }
        // Two whole rounds give 2 × 100 s × 1 MB, wherever one enters.
        #expect(abs(uploadable(600) / 2000 / 200e6 - 1) < 1e-6)
        // In one second a third of the viewers give 1 MB: 667 of 2,000, with a standard deviation of 21.
        #expect(abs(uploadable(1) / 1e6 - 667) < 84)
        #expect(population.viewers.allSatisfy { $0.upBitsPerSecond == 2_666_667 })
        let whole = population.viewers[0].traceOffsetSeconds
        #expect(whole >= 0 && whole < 300)
    }

    @Test func universalStreamingTurnsAtTheCriticalRatio() {
        func probability(_ scale: Double, ratio: Double) -> Double {
            // u₁ = 2 r, u₂ = r/2: c is 1/2.
            SoftLimits.universalStreamingProbability(
                bitsPerSecond: 1, server: 1, fast: (2, ratio * scale), slow: (0.5, scale))
        }
        #expect(probability(2000, ratio: 0.6) > 0.999)
        #expect(probability(2000, ratio: 0.4) < 0.001)
        #expect(probability(2000, ratio: 0.55) > probability(50, ratio: 0.55))
    }

    @Test func theTightestHardLimitIgnoresSoftOnes() {
        let limits = [
            HardLimits.firstCopy(distinctBytes: 1, deliveredBytes: 100),
            HardLimits.reach(reachableBytes: 90, deliveredBytes: 100),
            SoftLimits.warmUp(.seconds(9), watched: .seconds(10)),
        ]
        #expect(limits.tightestHard?.name == .reach)
        #expect([Limit]().tightestHard == nil)
    }

    /// 100 viewers of one live stream for its whole length, uplinks of twice the bit rate.
    @Test(arguments: ["live", "vod"]) func aRunHasEveryLimitThatApplies(type: String) throws {
        let stream =
            type == "live"
            ? TestScenario.stream
            : #""stream": {"type": "vod", "ladder": ["5Mbps"], "segment": "4s", "length": "10min"}"#
        let scenario = try TestScenario.make(stream: stream)
        let bytes = 5e6 / 8 * 600.0
        let totals = RunTotals(
            deliveredBytes: Array(repeating: bytes, count: 100), downloadedBytes: Array(repeating: bytes, count: 100),
            onlineSeconds: Array(repeating: 600, count: 100), isReachable: Array(repeating: true, count: 100),
            distinctBytes: bytes, largestSegmentBits: 20e6, longestRoom: .seconds(7), frontCount: 16)
        let limits = try totals.limits(Population(scenario, seed: 1), scenario)
        let hard = limits.filter { $0.strength == .hard }
        #expect(limits.prefix(hard.count) == hard[...])
        #expect(
            hard.map(\.name)
                == [.firstCopy, .uplink, .reach] + (type == "live" ? [.deadline, .injection] : []))
        #expect(limits.tightestHard?.name == .firstCopy)
        #expect(limits.tightestHard?.value == 0.99)
        #expect(limits.allSatisfy { (0...1).contains($0.value) && $0.sentence.hasSuffix(".") })
    }
}
