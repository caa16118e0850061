import CommandLineSupport
import Foundation
import Simulator

/// `pdn simulate`: a whole swarm in virtual time.
enum SimulateCommand: Subcommand {
    static let name = "simulate"

    static let specification = CommandSpecification(
        name: "pdn simulate", summary: "says what a swarm would save, and what its viewers would notice",
        operands: "SCENARIO", operandCount: 1...1,
        options: [
            .value("seed", "N", "the seed of everything random; the scenario's unless given"),
            .value("viewers", "N", "how many viewers; as many as the scenario says unless given"),
            .flag("json", "print one JSON document"),
        ],
        notes: [
            "SCENARIO is a file, or the name of one that comes with pdn: "
                + ReadyScenarios.names.joined(separator: ", ") + "."
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let scenario = try scenario(arguments.operands[0])
        let seed = try arguments.value("seed") == nil ? nil : arguments.integer("seed", in: 0...Int.max, default: 1)
        let count =
            try arguments.value("viewers") == nil ? nil : arguments.integer("viewers", in: 1...4_000_000, default: 1)
        let clock = ContinuousClock()
        let start = clock.now
        let result: SimulationResult
        do {
            let simulation = try Simulation(scenario: scenario, seed: seed.map { UInt64($0) }, viewers: count)
            var bar = ProgressBar()
            let length = max(1, scenario.duration.components.seconds)
            result = try simulation.run { bar.show(Double($0) / Double(length), "\($0)/\(length) s") }
            bar.clear()
        } catch let error as PopulationError {
            throw CommandFailure.badInput("\(arguments.operands[0]): \(error)")
        } catch let error as SimulationError {
            throw CommandFailure.failed("\(error)")
        }
        let wall = start.duration(to: clock.now)
        if arguments.flag("json") { Terminal.print(result.json) } else { print(result) }
        let seconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) * 1e-18
        Terminal.note(
            String(
                format: "%.0f s simulated in %.2f s; %.0f viewer-seconds a second", result.simulatedSeconds, seconds,
                result.viewerSeconds / max(seconds, 1e-9)))
        return .done
    }

    private static func scenario(_ operand: String) throws(CommandFailure) -> Scenario {
        do {
            if let ready = try Scenario(ready: operand) { return ready }
            let path = URL(fileURLWithPath: operand)
            guard let data = try? Data(contentsOf: path) else {
                throw CommandFailure.badInput(
                    "there is no scenario \"\(operand)\"; give a file or one of \(ReadyScenarios.names.joined(separator: ", "))"
                )
            }
            let folder = path.deletingLastPathComponent()
            return try Scenario(
                json: Array(data),
                files: ScenarioFiles { name throws(ScenarioFiles.Failure) in
                    guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
                        throw ScenarioFiles.Failure(reason: "the file can't be read")
                    }
                    return Array(data)
                })
        } catch let error as ScenarioError {
            throw .badInput("\(operand): \(error)")
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw .badInput("\(operand): \(error)")
        }
    }

    private static func print(_ result: SimulationResult) {
        let total = result.total
        func figure(_ value: Double?, _ format: String = "%.3f") -> String {
            value.map { String(format: format, $0) } ?? "-"
        }
        Terminal.print("\(result.scenario), seed \(result.seed), \(result.viewerCount) viewers")
        Terminal.print("  offload             \(figure(total.offload))")
        if let limit = result.limits.tightestHard {
            Terminal.print("  at most             \(figure(limit.value)) (\(limit.name.rawValue): \(limit.sentence))")
        }
        Terminal.print(
            "  copies per segment  \(figure(total.copiesPerSegment)): elected \(figure(total.copiesElected)), "
                + "hand-over \(figure(total.copiesHandover)), start-up \(figure(total.copiesStartup))")
        Terminal.print(
            "  stalls              \(total.stalls) in \(total.stalledViewers) viewers, "
                + "\(figure(total.stallSeconds, "%.1f")) s")
        Terminal.print(
            "  start-up            median \(figure(total.startupSecondsMedian)) s, "
                + "95 % within \(figure(total.startupSecondsP95)) s")
        Terminal.print(
            "  from the CDN        \(total.bytesCDN / 1_000_000) MB of \(total.bytesDelivered / 1_000_000) MB delivered"
        )
        Terminal.print("  messages            \(figure(total.messagesPerViewerSecond, "%.1f")) per viewer and second")
        if result.isWithoutSharedLines {
            Terminal.print("  note: no viewers share a line here, which is too optimistic for viewers at home")
        }
    }
}
