import Simulator

/// Small swarms for tests of what is reported on them.
enum SmallRun {
    static let alone = #""down": "50Mbps", "up": "10Mbps", "rtt": "10ms""#
    static let shared = alone + #", "sharedAccess": {"viewers": 4, "down": "100Mbps", "up": "20Mbps"}"#

    static func scenario(viewers: Int = 6, line: String = alone, more: String = "") throws -> Scenario {
        try TestScenario.read(
            """
            {"name": "small", "shows": "A test.", "duration": "40s",
            "stream": {"type": "vod", "ladder": ["2Mbps"], "segment": "2s", "length": "20s", "sizeVariation": 0.1},
            "population": {"viewers": \(viewers), "arrivals": {"kind": "together", "spread": "10s"}},
            "links": {"classes": [{"name": "home", \(line)}]}\(more)}
            """)
    }

    static func report(
        _ scenario: Scenario, seeds: Int = 1, jobs: Int = 1, explaining viewer: Int? = nil
    ) async throws -> SimulationReport {
        let runs = try await SeedRuns.run(seeds: SeedRuns.seeds(from: 1, count: seeds), jobs: jobs) { seed, note in
            try Simulation(scenario: scenario, seed: seed, explaining: viewer).run(progress: note)
        }
        return SimulationReport(scenario, runs: runs)
    }
}
