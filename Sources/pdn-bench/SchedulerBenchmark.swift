import CoreModel
import Foundation
import Scheduling
import Simulator

/// What decisions cost: the calls of real viewers' decision logs, given to schedulers again.
enum SchedulerBenchmark {
    /// The calls of one log, laid out so that going through them costs next to nothing.
    private struct Calls {
        var configuration: SchedulerConfiguration
        var inputs: [SchedulerInput] = []
        /// In order; an input where the flag is set, else a question for what to do.
        var steps: [(time: MonotonicInstant, isInput: Bool)] = []
        var span: Duration

        init(_ log: DecisionLog) {
            configuration = log.configuration
            span = log.startsAt.duration(to: log.entries.last?.time ?? log.startsAt)
            for entry in log.entries {
                var isInput = false
                if case .input(let input) = entry.event {
                    inputs.append(input)
                    isInput = true
                }
                steps.append((entry.time, isInput))
            }
        }

        func run() -> Scheduler {
            var scheduler = Scheduler(configuration: configuration)
            var next = 0
            for step in steps {
                if step.isInput {
                    scheduler.handle(inputs[next], now: step.time)
                    next += 1
                } else {
                    _ = scheduler.poll(now: step.time)
                }
            }
            return scheduler
        }
    }

    private struct Failure: Error, CustomStringConvertible { var description: String }

    private static let rounds = 5
    private static let schedulerCount = 600

    static func run(paths: [String]) throws -> [Measurement] {
        var logs: [Calls] = []
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Failure(description: "\(path) can't be read")
            }
            let log = try DecisionLog(Array(data))
            guard case .same = Replay.run(log) else { throw Failure(description: "\(path): \(Replay.run(log))") }
            logs.append(Calls(log))
        }
        let inputCount = logs.reduce(0) { $0 + $1.inputs.count }
        let seconds = logs.reduce(0) { $0 + $1.span.inSeconds }
        // The least of several: whatever else runs on the machine only adds.
        let best = (0..<rounds).map { _ in cpuSeconds { for log in logs { _ = log.run() } } }.min() ?? 0
        let before = Usage.residentByteCount
        var kept: [Scheduler] = []
        kept.reserveCapacity(schedulerCount + logs.count)
        while kept.count < schedulerCount { for log in logs { kept.append(log.run()) } }
        let memory = Double(Usage.residentByteCount - before) / Double(kept.count)
        return [
            Measurement(name: "scheduler", value: best / seconds * 1e6, unit: "us per viewer and second of stream"),
            Measurement(name: "scheduler-input", value: best / Double(inputCount) * 1e9, unit: "ns per input"),
            Measurement(
                name: "scheduler-inputs", value: Double(inputCount) / seconds,
                unit: "inputs per viewer and second of stream"),
            Measurement(name: "scheduler-memory", value: memory, unit: "bytes at a log's end"),
            Measurement(
                name: "scheduler-idle", value: Double(MemoryLayout<Scheduler>.stride),
                unit: "bytes of a scheduler without a timeline"),
        ]
    }
}
