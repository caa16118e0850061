import CommandLineSupport
import Foundation
import Simulator
import Synchronization

/// `pdn simulate`: a whole swarm in virtual time.
enum SimulateCommand: Subcommand {
    static let name = "simulate"

    static let specification = CommandSpecification(
        name: "pdn simulate", summary: "says what a swarm would save, and what its viewers would notice",
        operands: "SCENARIO", operandCount: 1...1,
        options: [
            .value("seed", "N", "the seed of everything random; the scenario's unless given"),
            .value("seeds", "N", "how many seeds to run, from the first on: gives means and confidence intervals"),
            .value("jobs", "N", "how many seeds run at once; the machine's cores unless given"),
            .value("viewers", "N", "how many viewers; as many as the scenario says unless given"),
            .value(
                "explain", "VIEWER", "say in words why this viewer, from 0 in order of arrival, stalled or used the CDN"
            ),
            .value("duration", "SPAN", "how much time to simulate; as much as the scenario says unless given"),
            .repeated(
                "policy", "NAME",
                "who decides for the viewers: \(policies); ours unless given, several side by side on the same seeds"),
            .flag(
                "compare", "run all policies on the same seeds, and hold ours against the CDN alone viewer by viewer"),
            .value("report", "DIR", "write a page with plots, and the plots as images, into this folder"),
            .flag("json", "print one JSON document"),
        ],
        notes: [
            "SCENARIO is a file, or the name of one that comes with pdn: "
                + ReadyScenarios.names.joined(separator: ", ") + "."
        ] + DeliveryPolicy.allCases.map { "\($0.rawValue): \($0.summary)." })

    private static var policies: String { DeliveryPolicy.allCases.map(\.rawValue).joined(separator: ", ") }

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        var scenario = try scenario(arguments.operands[0])
        if let duration = try arguments.duration("duration") {
            guard Scenario.durations.contains(duration) else {
                throw CommandFailure.usage("--duration is from 1s to 1000000s, as in scenarios")
            }
            scenario.duration = duration
        }
        let first = try arguments.integer("seed", in: 0...UInt64.max, default: scenario.seed)
        let seeds = SeedRuns.seeds(
            from: first, count: try arguments.integer("seeds", in: 1...10_000, default: 1))
        let jobs = try arguments.integer(
            "jobs", in: 1...1024, default: ProcessInfo.processInfo.activeProcessorCount)
        let count =
            try arguments.value("viewers") == nil ? nil : arguments.integer("viewers", in: 1...4_000_000, default: 1)
        let explained =
            try arguments.value("explain") == nil ? nil : arguments.integer("explain", in: 0...3_999_999, default: 0)
        if explained != nil, seeds.count > 1 {
            throw CommandFailure.usage("--explain is about one run: leave out --seeds, and name the run with --seed")
        }
        if arguments.flag("compare"), arguments.value("policy") != nil {
            throw CommandFailure.usage("--compare runs every policy: leave out --policy")
        }
        let policies: [DeliveryPolicy] =
            arguments.flag("compare") ? DeliveryPolicy.allCases : try arguments.choices("policy")
        if explained != nil, policies.count > 1 {
            throw CommandFailure.usage("--explain is about one run: name no more than one --policy")
        }
        let plan = Plan(scenario: scenario, seeds: seeds, jobs: jobs, viewers: count, explained: explained)
        let folder = try arguments.value("report").map { path throws(CommandFailure) in try ReportFolder(path) }
        let clock = ContinuousClock()
        let start = clock.now
        let report: SimulationReport
        do {
            if policies.count > 1 {
                report = SimulationReport(scenario, try await compare(plan, policies))
            } else {
                let policy = policies.first ?? .ours
                report = SimulationReport(scenario, runs: try await run(plan, policy), policy: policy)
            }
        } catch let error as PopulationError {
            throw CommandFailure.badInput("\(arguments.operands[0]): \(error)")
        } catch let error as SimulationError {
            throw CommandFailure.failed("\(error)")
        }
        let wall = start.duration(to: clock.now)
        let explanation = explained.flatMap { ViewerExplanation(of: $0, in: report.runs[0]) }
        if arguments.flag("json") {
            Terminal.print(report.comparison?.json ?? explanation?.json ?? report.json)
        } else {
            (report.comparison?.lines ?? explanation?.lines ?? report.lines).forEach(Terminal.print)
        }
        if let folder { Terminal.note("report: \(try folder.write(report))") }
        let seconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) * 1e-18
        let (simulated, online) = report.runs.reduce(into: (0.0, 0.0)) {
            $0.0 += $1.simulatedSeconds
            $0.1 += $1.viewerSeconds
        }
        Terminal.note(
            String(
                format: "%.0f s simulated in %.2f s; %.0f viewer-seconds a second", simulated, seconds,
                online / max(seconds, 1e-9)))
        return .done
    }

    /// What is run, whoever decides.
    private struct Plan: Sendable {
        var scenario: Scenario
        var seeds: [UInt64]
        var jobs: Int
        var viewers: Int?
        var explained: Int?
    }

    private static func compare(_ plan: Plan, _ policies: [DeliveryPolicy]) async throws -> PolicyComparison {
        var comparison = PolicyComparison()
        for policy in policies { comparison.add(try await run(plan, policy), of: policy) }
        return comparison
    }

    private static func run(_ plan: Plan, _ policy: DeliveryPolicy) async throws -> [SimulationResult] {
        let progress = SeedProgress(
            runCount: plan.seeds.count, secondsPerRun: max(1, Int(plan.scenario.duration.components.seconds)))
        defer { progress.clear() }
        return try await SeedRuns.run(seeds: plan.seeds, jobs: plan.jobs, progress: { progress.note($0) }) {
            seed, note in
            let simulation = try Simulation(
                scenario: plan.scenario, seed: seed, viewers: plan.viewers, policy: policy, explaining: plan.explained)
            if let explained = plan.explained, explained >= simulation.population.viewers.count {
                throw CommandFailure.usage(
                    "there is no viewer \(explained): the run has \(simulation.population.viewers.count), from 0 on in order "
                        + "of arrival")
            }
            return try simulation.run(progress: note)
        }
    }

    private static func scenario(_ operand: String) throws(CommandFailure) -> Scenario {
        do {
            if let ready = try Scenario(ready: operand) { return ready }
            let path = URL(fileURLWithPath: operand)
            guard let bytes = try Self.bytes(of: path, limit: Scenario.byteLimit) else {
                throw CommandFailure.badInput(
                    "there is no scenario \"\(operand)\"; give a file or one of \(ReadyScenarios.names.joined(separator: ", "))"
                )
            }
            let folder = path.deletingLastPathComponent()
            return try Scenario(
                json: bytes,
                files: ScenarioFiles { name throws(ScenarioFiles.Failure) in
                    let file = folder.appendingPathComponent(name)
                    guard let bytes = try Self.bytes(of: file, limit: NetworkTrace.byteLimit) else {
                        throw ScenarioFiles.Failure(reason: "there is no such file")
                    }
                    return bytes
                })
        } catch let error as ScenarioError {
            throw .badInput("\(operand): \(error)")
        } catch let error as ScenarioFiles.Failure {
            throw .badInput("\(operand): \(error.reason)")
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw .badInput("\(operand): \(error)")
        }
    }

    /// A file's content; `nil` when there is none of that name.
    ///
    /// - Throws: When it is no file but a folder, pipe or device, can't be read, or has more bytes than `limit`; they are not
    ///   read.
    private static func bytes(of file: URL, limit: Int) throws(ScenarioFiles.Failure) -> [UInt8]? {
        let path = file.resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let type = attributes[.type] as? FileAttributeType ?? .typeUnknown
        guard type == .typeRegular else { throw ScenarioFiles.Failure(reason: "is \(word(type)), not a file") }
        if let size = attributes[.size] as? NSNumber, size.intValue > limit {
            throw ScenarioFiles.Failure(reason: "longer than \(limit) bytes")
        }
        guard let data = try? Data(contentsOf: file) else {
            throw ScenarioFiles.Failure(reason: "the file can't be read")
        }
        return Array(data)
    }

    private static func word(_ type: FileAttributeType) -> String {
        switch type {
        case .typeDirectory: "a folder"
        case .typeSocket: "a socket"
        case .typeCharacterSpecial, .typeBlockSpecial: "a device"
        // Of a pipe, Foundation says that it doesn't know.
        default: "a pipe"
        }
    }
}

/// The progress of all runs together, shown on a terminal.
private final class SeedProgress: Sendable {
    private struct State {
        var bar = ProgressBar()
        var seconds: [Int]
    }

    private let state: Mutex<State>
    private let secondsPerRun: Int

    init(runCount: Int, secondsPerRun: Int) {
        state = Mutex(State(seconds: Array(repeating: 0, count: runCount)))
        self.secondsPerRun = secondsPerRun
    }

    /// From any thread.
    func note(_ progress: SeedRuns.Progress) {
        state.withLock { state in
            state.seconds[progress.run] = progress.second
            let (count, length) = (state.seconds.count, secondsPerRun)
            let sum = state.seconds.reduce(0, +)
            let done = state.seconds.count { $0 >= length }
            let label = count == 1 ? "\(sum)/\(length) s" : "\(done)/\(count) seeds, \(sum)/\(count * length) s"
            state.bar.show(Double(sum) / Double(count * length), label)
        }
    }

    func clear() { state.withLock { $0.bar.clear() } }
}
