import CoreModel
import Simulator

/// How fast a whole swarm is simulated on one core, and in how much memory: viewers of one live stream who come within ten
/// seconds, with 12 links each.
///
///     pdn-bench simulation [VIEWERS…]
///
/// The span that is simulated includes the viewers' coming: the most expensive seconds of their stay.
enum SimulationBenchmark {
    static func run() throws -> [Measurement] { try run(viewerCounts: [1000, 10_000]) }

    static func run(viewerCounts: [Int]) throws -> [Measurement] { try viewerCounts.flatMap(measure) }

    private static let scenario = """
        {
          "name": "benchmark",
          "shows": "What the simulation of a live stream costs.",
          "duration": "30s",
          "stream": {
            "type": "live", "ladder": ["1.5Mbps"], "segment": "4s", "liveDelay": "11.5s", "discovery": "500ms",
            "recordLatency": "500ms"
          },
          "population": {"viewers": 1000, "arrivals": {"kind": "together", "spread": "10s"}},
          "peers": {"links": 12},
          "links": {
            "classes": [
              {
                "name": "home", "down": "50Mbps", "up": {"kind": "lognormal", "median": "3Mbps", "sigma": 0.47},
                "rtt": {"kind": "lognormal", "median": "20ms", "sigma": 0.3},
                "sharedAccess": {"viewers": 10, "down": "1Gbps", "up": "500Mbps"}
              }
            ]
          },
          "uploads": {"shareOfDownload": 4, "meanUsable": 2}
        }
        """

    private static func measure(_ count: Int) throws -> [Measurement] {
        let before = Usage.residentByteCount
        var peak = before
        var result: SimulationResult?
        let seconds = try cpuSeconds {
            let simulation = try Simulation(scenario: Scenario(json: Array(scenario.utf8)), viewers: count)
            result = try simulation.run { _ in peak = max(peak, Usage.residentByteCount) }
        }
        guard let result else { return [] }
        let name = "simulation-\(count)"
        return [
            Measurement(
                name: name, value: result.viewerSeconds / seconds, unit: "viewer-seconds per CPU second"),
            Measurement(
                name: "\(name)-messages", value: result.total.messagesPerViewerSecond ?? 0,
                unit: "messages per viewer and second of stream"),
            Measurement(
                name: "\(name)-memory", value: Double(peak - before) / Double(count), unit: "bytes per viewer"),
        ]
    }
}
