import CommandLineSupport
import Simulator

/// A scenario with everything that must be there, to which tests add members.
enum TestScenario {
    static let stream = #""stream": {"type": "live", "ladder": ["5Mbps"], "segment": "4s", "liveDelay": "12s"}"#
    static let population = #""population": {"viewers": 100}"#
    static let links = #""links": {"classes": [{"name": "home", "down": "50Mbps", "up": "10Mbps"}]}"#

    static func text(
        stream: String = stream, population: String = population, links: String = links, more: String = ""
    ) -> String {
        #"{"name": "test", "shows": "A test.", "duration": "10min", \#(stream), \#(population), \#(links)\#(more)}"#
    }

    static func read(_ text: String, files: ScenarioFiles = .none) throws(ScenarioError) -> Scenario {
        try Scenario(json: [UInt8](text.utf8), files: files)
    }

    static func make(
        stream: String = stream, population: String = population, links: String = links, more: String = "",
        files: ScenarioFiles = .none
    ) throws(ScenarioError) -> Scenario {
        try read(text(stream: stream, population: population, links: links, more: more), files: files)
    }
}
