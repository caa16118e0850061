import CoreModel
import Scheduling
import Testing

/// Swarms of production schedulers in virtual time: what an operator would see on the CDN, and a viewer on the screen.
@Suite struct SwarmTests {
    @Test func viewersWhoStartTogetherOnHomeLinksFetchFewCopies() throws {
        let result = try SwarmHarness(.init()).run()
        #expect(result.finished == 10)
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.80)
    }

    @Test func viewersOneSecondApartOnAFastNetworkFetchLittleMoreThanOneCopy() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.stagger = .seconds(1)
        scenario.uplink = 1e9
        scenario.downlink = 1e9
        scenario.latency = .milliseconds(1)
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
        #expect(result.copies <= 1.4)
    }

    @Test func viewersTenSecondsApartOnHomeLinksFetchFewCopies() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.stagger = .seconds(10)
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.80)
    }

    @Test func withoutATrackerTheElectionKeepsCopiesFew() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.hasFront = false
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.75)
    }

    @Test func viewersWhoNeverAnswerCostNoStall() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.silentViewers = 3
        scenario.stagger = .seconds(1)
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
    }

    @Test func halfOfTheViewersLeavingCostsNoStall() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.leavers = 5..<10
        scenario.leaveAt = .seconds(20)
        let result = try SwarmHarness(scenario).run()
        #expect(result.finished == 5)
        #expect(result.stalls == 0)
    }

    @Test func aTrackerThatGoesAwayCostsNoStall() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.frontEnds = .seconds(15)
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
        #expect(result.offload >= 0.75)
    }

    @Test func aViewerAloneIsServedByTheCDNOnce() throws {
        var scenario = SwarmHarness.Scenario()
        scenario.viewers = 1
        let result = try SwarmHarness(scenario).run()
        #expect(result.stalls == 0)
        #expect(result.copies < 1.001)
    }
}
