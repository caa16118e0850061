internal import CoreModel
package import Scheduling

/// Runs a decision log through a fresh scheduler and compares the decisions.
package enum Replay {
    /// The first place where the scheduler decides otherwise than the log says.
    package struct Difference: Sendable, Equatable {
        /// The line of the log, from 1.
        package var line: Int
        /// What the log says.
        package var expected: SchedulerOutput
        /// What the scheduler decided.
        package var got: SchedulerOutput

        package init(line: Int, expected: SchedulerOutput, got: SchedulerOutput) {
            self.line = line
            self.expected = expected
            self.got = got
        }
    }

    /// How a replay ended.
    package enum Outcome: Sendable, Equatable, CustomStringConvertible {
        /// Every decision was the same.
        case same(inputCount: Int, decisionCount: Int)
        /// The scheduler decided otherwise; nothing behind that place was compared.
        case different(Difference)

        package var description: String {
            switch self {
            case .same(let inputCount, let decisionCount):
                "the same \(decisionCount) decisions from \(inputCount) inputs"
            case .different(let difference):
                "line \(difference.line): the log says \(difference.expected), the scheduler decides \(difference.got)"
            }
        }
    }

    /// Replays a log.
    package static func run(_ log: DecisionLog) -> Outcome {
        var scheduler = Scheduler(configuration: log.configuration)
        var (inputCount, decisionCount) = (0, 0)
        for (index, entry) in log.entries.enumerated() {
            switch entry.event {
            case .configuration: preconditionFailure("a log has its configuration beside its entries")
            case .input(let input):
                scheduler.handle(input, now: entry.time)
                inputCount += 1
            case .output(let expected):
                let got = scheduler.poll(now: entry.time)
                guard got == expected else {
                    return .different(
                        Difference(line: DecisionLog.line(ofEntry: index), expected: expected, got: got))
                }
                // A wait is where the scheduler was asked and had nothing to say.
                if case .wait = got { continue }
                decisionCount += 1
            // It says why inputs came; those are told themselves.
            case .choice: break
            }
        }
        return .same(inputCount: inputCount, decisionCount: decisionCount)
    }
}
