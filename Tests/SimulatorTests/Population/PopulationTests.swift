import CoreModel
import Foundation
import Simulator
import Testing

@Suite struct PopulationTests {
    private func population(_ text: String, links: String = TestScenario.links, more: String = "", seed: UInt64 = 1)
        throws -> Population
    {
        try Population(
            TestScenario.make(population: #""population": {\#(text)}"#, links: links, more: more), seed: seed)
    }

    /// The greatest distance between the draws' and the exact distribution function, times √n; above 1.95 with a
    /// probability of 0.001.
    private func kolmogorov(_ draws: [Double], _ probabilityBelow: (Double) -> Double) -> Double {
        let count = Double(draws.count)
        let distances = draws.sorted().enumerated().map { index, value in
            let p = probabilityBelow(value)
            return max(abs(p - Double(index) / count), abs(p - Double(index + 1) / count))
        }
        return (distances.max() ?? 1) * count.squareRoot()
    }

    private func seconds(_ population: Population) -> [Double] {
        population.viewers.map { Double($0.arrival.nanoseconds) / 1e9 }
    }

    @Test func equalSeedsGiveEqualViewers() throws {
        for name in ReadyScenarios.names {
            let scenario = try Scenario(json: #require(ReadyScenarios.json(named: name)))
            let first = try Population(scenario, seed: 5, count: 50)
            #expect(try Population(scenario, seed: 5, count: 50) == first)
            #expect(try Population(scenario, seed: 6, count: 50) != first)
        }
    }

    @Test func aChangeOfTheLinesLeavesArrivalsAndSessionsAlone() throws {
        let text =
            #""viewers": 200, "arrivals": {"kind": "poisson", "over": "1min"}, "session": {"kind": "exponential", "mean": "1min"}"#
        let one = try population(text)
        let other = try population(
            text,
            links:
                #""links": {"classes": [{"name": "a", "down": "9Mbps", "up": {"kind": "uniform", "from": "1Mbps", "to": "2Mbps"}}]}"#,
            more: #", "conduct": {"polluters": 0.5}"#)
        #expect(one.viewers.map(\.arrival) == other.viewers.map(\.arrival))
        #expect(one.viewers.map(\.departure) == other.viewers.map(\.departure))
    }

    @Test func poissonArrivalsHaveExponentialGaps() throws {
        let arrivals = seconds(
            try population(#""viewers": 20000, "arrivals": {"kind": "poisson", "from": "10s", "perSecond": 50}"#))
        #expect(arrivals.count == 20_000)
        let gaps = zip(arrivals, [10] + arrivals).map { $0 - $1 }
        #expect(kolmogorov(gaps) { 1 - exp(-$0 * 50) } < 1.95)
    }

    @Test func poissonOverASpanHasTheRateThatFillsIt() throws {
        let arrivals = seconds(
            try population(#""viewers": 10000, "arrivals": {"kind": "poisson", "over": "5min"}"#))
        // The last of n comes at n gaps: mean 300 s, standard deviation 3 s.
        #expect(abs(arrivals[arrivals.count - 1] - 300) < 12)
    }

    @Test func aFlashCrowdRisesInALineAndFallsExponentially() throws {
        let arrivals = seconds(
            try population(
                #""viewers": 20000, "arrivals": {"kind": "flashCrowd", "present": 0.1, "presentSpread": "10s", "steady": 0.2, "waves": [{"at": "100s", "ramp": "40s", "decay": "60s", "weight": 3}, {"at": "580s", "decay": "50s"}]}"#
            ))
        #expect(arrivals.count == 20_000)
        // The run ends at 600 s and cuts both waves.
        func wave(_ t: Double, peak: Double, ramp: Double, decay: Double) -> Double {
            let reached = ramp > 0 ? min(max((t - peak + ramp) / ramp, 0), 1) : 0
            let rise = reached * reached * ramp / 2
            let fall = decay * (1 - exp(-max(0, t - peak) / decay))
            return (rise + fall) / (ramp / 2 + decay)
        }
        func crowd(_ t: Double) -> Double {
            3 * wave(t, peak: 100, ramp: 40, decay: 60) + wave(t, peak: 580, ramp: 0, decay: 50)
        }
        func probability(below t: Double) -> Double {
            let present = 0.1 * min(1, t / 10)
            let steady = 0.2 * t / 600
            return present + steady + 0.7 * crowd(t) / crowd(600)
        }
        #expect(kolmogorov(arrivals, probability) < 1.95)
    }

    @Test func sessionsFollowTheirDistributionAndEndWithTheRun() throws {
        let population = try population(
            #""viewers": 20000, "session": {"kind": "weibull", "mean": "60s", "shape": 0.7}"#)
        let scale = 60 / tgamma(1 + 1 / 0.7)
        let lengths = population.viewers.map { $0.session / .seconds(1) }
        for p in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let exact = scale * pow(-log(1 - p), 1 / 0.7)
            let below = Double(lengths.count { $0 < exact }) / 20_000
            #expect(abs(below - p) < 4 * (p * (1 - p) / 20_000).squareRoot())
        }
        #expect(population.viewers.allSatisfy { $0.departure <= .origin + .seconds(600) })
    }

    @Test func mixesHaveExactCounts() throws {
        let population = try population(
            #""viewers": 1000, "leechOnly": 0.35, "mobile": 0.1"#,
            links:
                #""links": {"classes": [{"name": "a", "weight": 2, "down": "9Mbps", "up": "5Mbps"}, {"name": "b", "weight": 1, "down": "9Mbps", "up": "5Mbps", "metered": true}]}"#,
            more: #", "conduct": {"polluters": 0.2, "freeRiders": 0.1, "lying": 0.05}, "nat": {"mix": "webrtc078"}"#)
        let viewers = population.viewers
        #expect(viewers.count { $0.linkClass == 0 } == 667)
        #expect(viewers.count { $0.sharing == .leechOnly } == 350)
        #expect(viewers.filter { $0.linkClass == 1 }.allSatisfy { $0.sharing != .uploads })
        #expect(Conduct.allCases.map { conduct in viewers.count { $0.conduct == conduct } } == [650, 200, 100, 0, 50])
        #expect(NATKind.allCases.map { nat in viewers.count { $0.nat == nat } } == [120, 160, 100, 400, 220, 0])
        for (viewer, usable) in zip(viewers, population.usableUplinks) {
            #expect((usable == 0) == (viewer.sharing != .uploads || viewer.conduct == .freeRiding))
        }
    }

    @Test func ratesHaveTheRankCorrelationThatIsAskedFor() throws {
        let viewers = try population(
            #""viewers": 5000"#,
            links:
                #""links": {"classes": [{"name": "a", "down": {"kind": "lognormal", "median": "94Mbps", "sigma": 1}, "up": {"kind": "lognormal", "median": "48Mbps", "sigma": 1}, "correlation": 0.7}]}"#
        ).viewers
        func ranks(_ values: [Int]) -> [Double] {
            var ranks = Array(repeating: 0.0, count: values.count)
            for (rank, index) in values.indices.sorted(by: { values[$0] < values[$1] }).enumerated() {
                ranks[index] = Double(rank)
            }
            return ranks
        }
        let squares = zip(ranks(viewers.map(\.downBitsPerSecond)), ranks(viewers.map(\.upBitsPerSecond)))
            .reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        let spearman = 1 - 6 * squares / (5000 * (5000.0 * 5000 - 1))
        #expect(abs(spearman - 0.7) < 0.03)
        let median = viewers.map(\.upBitsPerSecond).sorted()[2500]
        #expect(abs(Double(median) / 48e6 - 1) < 0.06)
    }

    @Test func linesAreSharedByAsManyAsTheScenarioSays() throws {
        let population = try population(
            #""viewers": 105"#,
            links:
                #""links": {"classes": [{"name": "a", "down": "9Mbps", "up": "5Mbps", "sharedAccess": {"viewers": 10, "down": "20Mbps", "up": "8Mbps"}}]}"#
        )
        #expect(population.sharedLines.map(\.viewerCount) == Array(repeating: 10, count: 10) + [5])
        for (index, line) in population.sharedLines.enumerated() {
            #expect(population.viewers.count { $0.sharedLine == index } == Int(line.viewerCount))
            #expect(line.upBitsPerSecond == 8_000_000)
        }
    }

    @Test func habitsHappenAsOftenAsTheyShould() throws {
        let population = try population(
            #""viewers": 1000, "seeks": {"every": "60s", "distance": {"kind": "uniform", "from": "-30s", "to": "90s"}}, "pauses": {"every": "120s", "length": "5s"}"#
        )
        // 600 s each: ten seeks and five pauses on average, Poisson.
        let seeks = population.events.filter { $0.kind == .seek }
        #expect(abs(Double(seeks.count) - 10_000) < 400)
        #expect(abs(Double(population.events.count - seeks.count) - 5000) < 4 * 5000.0.squareRoot())
        let mean = seeks.reduce(0.0) { $0 + Double($1.amountNanoseconds) / 1e9 } / Double(seeks.count)
        #expect(abs(mean - 30) < 1.5)
        for viewer in population.viewers {
            let offsets = population.events[viewer.eventRange].map(\.offsetNanoseconds)
            #expect(offsets == offsets.sorted())
            #expect(offsets.allSatisfy { $0 >= 0 && $0 < viewer.session.nanosecondsClamped })
        }
    }

    @Test func uplinksScaleToTheMeanThatIsAskedForUnderTheCaps() throws {
        let links =
            #""links": {"classes": [{"name": "a", "down": "50Mbps", "up": {"kind": "lognormal", "median": "6Mbps", "sigma": 0.5}}]}"#
        let scaled = try population(
            #""viewers": 500, "leechOnly": 0.35"#, links: links, more: #", "uploads": {"meanUsable": 1.2}"#)
        #expect(abs(scaled.meanUsableUplink / 5e6 - 1.2) < 1e-4)
        #expect(scaled.usableUplinks.allSatisfy { $0 <= 10e6 })
        // A cap of twice the rate and 65 % who upload give 1.3 at most.
        #expect(throws: PopulationError.unreachableMeanUsable(wanted: 1.5, greatest: 1.3)) {
            try population(
                #""viewers": 500, "leechOnly": 0.35"#, links: links, more: #", "uploads": {"meanUsable": 1.5}"#)
        }
    }

    @Test func nobodyIsAnError() {
        #expect(throws: PopulationError.nobodyComes) {
            try population(#""viewers": 5, "arrivals": {"kind": "together", "at": "20min"}"#)
        }
    }

    @Test func concurrencyCountsWhoIsThereAtOnce() throws {
        let population = try population(
            #""arrivals": {"kind": "times", "times": ["0s", "1s", "2s", "8s", "9s"]}, "session": "5s""#)
        #expect(population.peakConcurrency == 3)
    }

    @Test func aViewerIsAsSmallAsItSays() { #expect(MemoryLayout<ViewerProfile>.stride == 72) }

    /// The order in which a dictionary or a set is iterated differs from process to process.
    @Test func anotherProcessDrawsTheSameViewers() async throws {
        let outputs = try await [otherProcess(), otherProcess()]
        #expect(outputs[0].contains("viewers: "))
        #expect(outputs[0] == outputs[1])
    }

    private func otherProcess() async throws -> String {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for name in ["world-cup-final", "vod-premiere"] {
                let scenario = try Scenario(json: #require(ReadyScenarios.json(named: name)))
                let population = try Population(scenario, seed: 9, count: 200)
                print("viewers: \(population.viewers) \(population.events) \(population.sharedLines)")
            }
        }
        let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        // The testing library says when it started.
        return text.split(separator: "\n").filter { $0.hasPrefix("viewers: ") }.joined(separator: "\n")
    }
}
