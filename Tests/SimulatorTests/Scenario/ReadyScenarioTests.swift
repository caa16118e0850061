import CoreModel
import Foundation
import Simulator
import Testing

@Suite struct ReadyScenarioTests {
    @Test func everyFileOfTheFolderIsCompiledIn() throws {
        let folder = ScenarioTests.sources.appending(path: "Scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        #expect(Set(files) == Set(ReadyScenarios.names.map { "\($0).json" }))
        #expect(files.count >= 12)
        for name in ReadyScenarios.names {
            let file = try Data(contentsOf: folder.appending(path: "\(name).json"))
            #expect(ReadyScenarios.json(named: name) == [UInt8](file), "\(name)")
        }
        #expect(ReadyScenarios.json(named: "no-such") == nil)
    }

    @Test(arguments: ReadyScenarios.names) func eachIsValidAndHasViewers(name: String) throws {
        let scenario = try Scenario(json: #require(ReadyScenarios.json(named: name)))
        #expect(scenario.name == name)
        #expect(scenario.shows.hasSuffix(".") && scenario.shows.count > 40)
        let population = try Population(scenario, seed: 1)
        #expect(population.viewers.count * 10 >= scenario.population.viewerCount * 7)
        #expect(population.viewers.allSatisfy { $0.arrival <= $0.departure && $0.departure <= scenario.end })
        #expect(population.viewers.allSatisfy { $0.downBitsPerSecond > 0 && $0.upBitsPerSecond >= 0 })
        if let wanted = scenario.uploads.meanUsable {
            #expect(
                abs(population.meanUsableUplink / Double(scenario.stream.topBitsPerSecond) - wanted) < 0.001 * wanted)
        }
    }

    @Test func theSteadyLiveScenarioHasTheRoomThatItStates() throws {
        for name in ["live-steady", "live-scarce"] {
            let scenario = try Scenario(json: #require(ReadyScenarios.json(named: name)))
            #expect(scenario.stream.room == .milliseconds(6500))
        }
    }
}
