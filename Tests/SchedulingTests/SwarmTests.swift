import CoreModel
import Scheduling
import TestSupport
import Testing

/// Swarms of production schedulers in virtual time: what an operator would see on the CDN, and a viewer on the screen.
///
/// Each computes for seconds: one at a time, on a thread of its own that gives way, so that the tests of other suites, which
/// may wait for real sockets, go on meanwhile.
@Suite(.serialized) struct SwarmTests {
    private func run(_ scenario: SwarmHarness.Scenario) async throws -> SwarmHarness.Result {
        try await onOwnThread(givesWay: true) { try SwarmHarness(scenario).run() }
    }

    @Test func viewersWhoStartTogetherOnHomeLinksFetchFewCopies() async throws {
        let result = try await run(.init())
        #expect(result.finished == 10)
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.80)
    }

    @Test func viewersOneSecondApartOnAFastNetworkFetchLittleMoreThanOneCopy() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.stagger = .seconds(1)
        scenario.uplink = 1e9
        scenario.downlink = 1e9
        scenario.latency = .milliseconds(1)
        let result = try await run(scenario)
        #expect(result.stalls == 0)
        #expect(result.copies <= 1.4)
    }

    @Test func viewersTenSecondsApartOnHomeLinksFetchFewCopies() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.stagger = .seconds(10)
        let result = try await run(scenario)
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.80)
    }

    @Test func withoutATrackerTheElectionKeepsCopiesFew() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.hasFront = false
        let result = try await run(scenario)
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.75)
    }

    @Test func viewersWhoNeverAnswerCostNoStall() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.silentViewers = 3
        scenario.stagger = .seconds(1)
        let result = try await run(scenario)
        #expect(result.stalls == 0)
    }

    @Test func halfOfTheViewersLeavingCostsNoStall() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.leavers = 5..<10
        scenario.leaveAt = .seconds(20)
        let result = try await run(scenario)
        #expect(result.finished == 5)
        #expect(result.stalls == 0)
    }

    @Test func aTrackerThatGoesAwayCostsNoStall() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.frontEnds = .seconds(15)
        let result = try await run(scenario)
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.75)
    }

    @Test func aViewerAloneIsServedByTheCDNOnce() async throws {
        var scenario = SwarmHarness.Scenario()
        scenario.viewers = 1
        let result = try await run(scenario)
        #expect(result.stalls == 0)
        #expect(result.copies < 1.001)
    }
}
