import CommandLineSupport
import Simulator
import Testing

/// What is reported on whole runs: sums that must agree, and prices by hand.
@Suite struct SimulationReportTests {
    private static let prices =
        #", "cdn": {"prices": {"currency": "EUR", "perGB": [{"upTo": "10MB", "price": 100}, {"price": 50}], "perMillionRequests": 1000, "perMbpsAt95": 2}}"#

    @Test func secondsAndSegmentsAddUpToTheTotals() async throws {
        let result = try await SmallRun.report(SmallRun.scenario()).runs[0]
        #expect(result.series.count == 40)
        #expect(result.series.map(\.bytesCDN).reduce(0, +) == result.total.bytesCDN)
        #expect(result.series.map(\.bytesPeers).reduce(0, +) == result.total.bytesPeers)
        #expect(result.series.map(\.bytesDelivered).reduce(0, +) == result.total.bytesDelivered)
        #expect(result.series.last?.copies == result.total.copiesPerSegment)
        #expect(result.series.map(\.viewers).max() == 6)
        #expect(result.segments.map(\.bytesCDN).reduce(0, +) == result.total.bytesCDN)
        #expect(result.segments.map(\.bytesDelivered).reduce(0, +) == result.total.bytesDelivered)
    }

    @Test func aLoneViewerTakesEachSegmentOnce() async throws {
        let result = try await SmallRun.report(SmallRun.scenario(viewers: 1, more: Self.prices)).runs[0]
        #expect(result.segments.count == 10 && result.segments.allSatisfy { $0.copies == 1 })
        #expect(result.startups.count == 1 && result.stallTimes.histogram[0].count == 1)
        // What one viewer fetches is what the CDN alone would give it, but for the catalogue.
        let cost = try #require(result.cost)
        #expect(cost.withPeers.bytes - cost.cdnOnly.bytes == 48 << 10)
        #expect(cost.cdnOnly.bytes == result.total.bytesDelivered + 8 << 10)
        #expect(cost.cdnOnly.requests == 11)
        #expect(abs(cost.cdnOnly.requesting - 0.011) < 1e-12)
    }

    @Test func billsFollowThePrices() async throws {
        let result = try await SmallRun.report(SmallRun.scenario(more: Self.prices)).runs[0]
        let cost = try #require(result.cost)
        #expect(cost.currency == "EUR")
        // About 30 MB: the first ten million bytes at 100 for 10⁹, the others at 50.
        #expect(cost.cdnOnly.bytes > 10_000_000)
        #expect(abs(cost.cdnOnly.volume - (1 + Double(cost.cdnOnly.bytes - 10_000_000) * 50e-9)) < 1e-9)
        #expect(abs(cost.cdnOnly.rate - result.cdnOnlyRate.percentile95 * 2e-6) < 1e-9)
        #expect(cost.withPeers.sum < cost.cdnOnly.sum)
        #expect(try await SmallRun.report(SmallRun.scenario()).runs[0].cost == nil)
    }

    @Test func resultsDependNotOnHowManyRunAtOnce() async throws {
        let scenario = try SmallRun.scenario()
        let one = try await SmallRun.report(scenario, seeds: 4, jobs: 1).json
        let many = try await SmallRun.report(scenario, seeds: 4, jobs: 4).json
        #expect(one.text() == many.text())
        #expect(one["seeds"] == [1, 2, 3, 4])
    }

    @Test func severalSeedsGiveIntervals() async throws {
        let report = try await SmallRun.report(SmallRun.scenario(), seeds: 3, jobs: 2)
        let offloads = report.runs.compactMap(\.total.offload)
        let interval = try #require(report.interval("offload"))
        #expect(interval.count == 3 && abs(interval.mean - offloads.reduce(0, +) / 3) < 1e-12)
        #expect(try #require(interval.low) < interval.mean)
        #expect(report.json["figures"]?["offload"]?["mean"] == .number(interval.mean))
        #expect(report.lines[1].contains("±"))
    }

    private struct Broken: Error, Equatable { var seed: UInt64 }

    @Test func theFirstSeedsErrorIsReported() async throws {
        let result = try await SmallRun.report(SmallRun.scenario(viewers: 1)).runs[0]
        await #expect(throws: Broken(seed: 2)) {
            try await SeedRuns.run(seeds: [1, 2, 3, 4], jobs: 4) { seed, _ in
                if seed % 2 == 0 { throw Broken(seed: seed) }
                return result
            }
        }
    }

    /// Who has a line to himself alone seems to upload more than homes can: the report must not hide it.
    @Test func aScenarioWithoutSharedLinesIsFlagged() async throws {
        let flagged = try await SmallRun.report(SmallRun.scenario(line: SmallRun.alone))
        #expect(flagged.json["isWithoutSharedLines"] == true)
        #expect(flagged.lines.contains { $0.contains("too optimistic") })
        let fair = try await SmallRun.report(SmallRun.scenario(line: SmallRun.shared))
        #expect(fair.json["isWithoutSharedLines"] == false)
        #expect(!fair.lines.contains { $0.contains("too optimistic") })
    }

    @Test func fieldFiguresStandBesideTheResult() async throws {
        let lines = try await SmallRun.report(SmallRun.scenario()).lines
        #expect(lines.contains { $0.contains("in the field") && $0.contains("0.50 to 0.80") })
    }

    @Test func anExplainedViewersLogReplays() async throws {
        let scenario = try SmallRun.scenario()
        let result = try await SmallRun.report(scenario, explaining: 3).runs[0]
        let log = try #require(result.decisionLog)
        guard case .same(let inputs, let decisions) = Replay.run(log) else {
            Issue.record("the log gives other decisions")
            return
        }
        #expect(inputs > 0 && decisions > 0)
        // Keeping the log changes nothing.
        #expect(try await SmallRun.report(scenario).json.text() == result.json.text())

        let explanation = try #require(ViewerExplanation(of: 3, in: result))
        let fetches = explanation.sentences.count { if case .fetch = $0.subject { true } else { false } }
        let viewer = try #require(result.json["viewers"])
        guard case .array(let viewers) = viewer else { return }
        #expect(viewers[3]["requests"]?["cdn"] == .integer(fetches))
        #expect(explanation.lines[0].contains("viewer 3 began to play"))
    }

    /// A CDN that gives 1 Mbps for 2 Mbps of media, and nobody else there.
    @Test func anExplanationSaysThatTheViewerStalled() async throws {
        let scenario = try SmallRun.scenario(
            viewers: 1, more: #", "cdn": {"perTransfer": "1Mbps", "capacity": "1Mbps"}"#)
        let result = try await SmallRun.report(scenario, explaining: 0).runs[0]
        let explanation = try #require(ViewerExplanation(of: 0, in: result))
        let stalls = explanation.sentences.count { if case .stall = $0.subject { true } else { false } }
        #expect(stalls == result.total.stalls && stalls > 0)
        #expect(result.series.contains { $0.stalledViewers == 1 })
        #expect(result.stallCounts.sorted == [Double(stalls)])
    }
}
