import CommandLineSupport
import Foundation
import Simulator

/// `pdn replay`: a decision log through the same scheduler again.
enum ReplayCommand: Subcommand {
    static let name = "replay"

    static let specification = CommandSpecification(
        name: "pdn replay", summary: "runs decision logs through the scheduler again and compares the decisions",
        operands: "FILE…", operandCount: 1...1000,
        options: [
            .flag("explain", "say in words why the viewer went to the CDN and why it stalled"),
            .flag("json", "print one JSON document"),
        ],
        notes: [
            "The files are what 'pdn play --decisions' and 'pdn swarm --decisions' write. The exit code is 1 when a decision "
                + "differs."
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        var documents: [JSONValue] = []
        var code = ExitCode.done
        for path in arguments.operands {
            let log = try read(path)
            let outcome = Replay.run(log)
            if case .different = outcome { code = .failed }
            let sentences = arguments.flag("explain") ? Explanation(log).sentences : []
            if arguments.flag("json") {
                documents.append(document(path, outcome, arguments.flag("explain") ? sentences : nil))
            } else {
                for sentence in sentences { Terminal.print("\(sentence)") }
                Terminal.print("\(path): \(outcome)")
            }
        }
        if arguments.flag("json") { Terminal.print(["logs": .array(documents)]) }
        return code
    }

    private static func read(_ path: String) throws(CommandFailure) -> DecisionLog {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .badInput("\(path) can't be read")
        }
        do {
            return try DecisionLog(Array(data))
        } catch {
            throw .badInput("\(path): \(error)")
        }
    }

    private static func document(
        _ path: String, _ outcome: Replay.Outcome, _ sentences: [Explanation.Sentence]?
    ) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = [("file", .string(path))]
        switch outcome {
        case .same(let inputCount, let decisionCount):
            members += [
                ("same", true), ("inputs", .integer(inputCount)), ("decisions", .integer(decisionCount)),
            ]
        case .different(let difference):
            members += [
                ("same", false), ("line", .integer(difference.line)),
                ("expected", .string("\(difference.expected)")), ("got", .string("\(difference.got)")),
            ]
        }
        if let sentences {
            members.append(("explanation", .array(sentences.map { .string("\($0)") })))
        }
        return .object(members)
    }
}
