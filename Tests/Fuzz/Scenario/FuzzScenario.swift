import CommandLineSupport
import FuzzSupport
import Simulator

/// Scenario files and the tables and traces that they name: the first piece is whatever file is asked for. A scenario that is
/// read has a population, or an error that says why not.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let file = input.piece()
    let files = ScenarioFiles { _ throws(ScenarioFiles.Failure) in
        guard !file.isEmpty else { throw ScenarioFiles.Failure(reason: "there is none") }
        return file
    }
    let bytes = input.rest()
    do throws(ScenarioError) {
        let scenario = try Scenario(json: bytes, files: files)
        precondition((1...32).contains(scenario.stream.ladder.count), "a ladder has rungs")
        precondition(Scenario.durations.contains(scenario.duration), "a duration in bounds")
        guard let population = try? Population(scenario, seed: 1, count: 8) else { return 0 }
        precondition(population.viewers.count <= 8)
        for viewer in population.viewers { precondition(viewer.arrival <= viewer.departure, "who comes leaves later") }
    } catch {
        // An error is a line for a terminal.
        precondition(!"\(error)".unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
    return 0
}
