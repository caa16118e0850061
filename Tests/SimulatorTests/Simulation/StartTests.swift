import CommandLineSupport
import CoreModel
import Simulator
import Testing

/// A viewer with peers starts as one without would.
@Suite struct StartTests {
    /// On lines of 1.5 Mbps the first stripe of 128 KiB takes 0.7 s, and the first picture a fraction of that.
    @Test func startsAsEarlyAsFromTheCDNAloneAndPlaysOn() throws {
        let scenario = try TestScenario.read(
            """
            {"name": "slow-lines", "shows": "A test.", "duration": "40s",
            "stream": {"type": "live", "ladder": ["600kbps"], "segment": "4s", "liveDelay": "12s"},
            "population": {"viewers": 8, "arrivals": {"kind": "together", "spread": "20s"}},
            "links": {"classes": [{"name": "mobile", "down": "1.5Mbps", "up": "500kbps", "rtt": "60ms"}]}}
            """)
        let ours = try Simulation(scenario: scenario, seed: 1, policy: .ours).run()
        let alone = try Simulation(scenario: scenario, seed: 1, policy: .cdnOnly).run()
        let median = try #require(ours.total.startupSecondsMedian)
        #expect(try median <= 1.02 * #require(alone.total.startupSecondsMedian))
        #expect(ours.total.stalls == 0 && alone.total.stalls == 0)
    }
}
