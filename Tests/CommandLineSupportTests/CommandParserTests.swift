import CommandLineSupport
import Foundation
import Testing

struct CommandParserTests {
    private let specification = CommandSpecification(
        name: "tool", summary: "tests", operands: "URL…", operandCount: 1...2,
        options: [
            .value("out", "FILE", "a file", isRequired: true), .repeated("tracker", "URL", "a tracker"),
            .flag("json", "JSON"), .value("jobs", "N", "how many"),
        ])

    private func arguments(_ words: [String]) throws -> CommandArguments {
        guard case .run(let arguments) = try CommandParser.parse(words, for: specification) else {
            throw CommandFailure.failed("no run")
        }
        return arguments
    }

    @Test func `Options come with a space or an equals sign, between operands`() throws {
        let arguments = try arguments([
            "a", "--out=x=y", "--tracker", "t1", "b", "--tracker=t2", "--json",
        ])
        #expect(arguments.operands == ["a", "b"])
        #expect(arguments.required("out") == "x=y")
        #expect(arguments.values("tracker") == ["t1", "t2"])
        #expect(arguments.flag("json"))
        #expect(try arguments.integer("jobs", in: 1...8, default: 4) == 4)
    }

    @Test func `Two dashes end the options, and a later value replaces an earlier one`() throws {
        let arguments = try arguments(["--out", "1", "--out", "2", "--", "--json"])
        #expect(arguments.operands == ["--json"])
        #expect(arguments.value("out") == "2")
        #expect(!arguments.flag("json"))
    }

    @Test(arguments: [
        ["a"], ["--out"], ["--out", "x"], ["--out", "x", "a", "b", "c"], ["--out", "x", "a", "--nonsense"],
        ["--out", "x", "a", "--json=1"], ["-j", "--out", "x", "a"],
    ])
    func `Wrong usage is refused`(words: [String]) {
        #expect {
            try CommandParser.parse(words, for: specification)
        } throws: {
            ($0 as? CommandFailure)?.exitCode == .usage
        }
    }

    @Test func `Help and version win over what is missing`() throws {
        guard case .help = try CommandParser.parse(["--help"], for: specification) else {
            Issue.record("no help")
            return
        }
        guard case .version = try CommandParser.parse(["--version"], for: specification) else {
            Issue.record("no version")
            return
        }
        #expect(specification.help.contains("--tracker URL"))
    }

    @Test func `A configuration file gives what the command line leaves out`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pdn-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"out": "f", "jobs": 3, "json": true, "tracker": ["a", "b"]}"#.utf8).write(to: file)
        let given = try arguments(["--config", file.path, "u", "--jobs", "5"])
        #expect(given.value("out") == "f")
        #expect(given.values("tracker") == ["a", "b"])
        #expect(given.flag("json"))
        #expect(try given.integer("jobs", in: 1...8, default: 1) == 5)
        let large = CommandArguments(values: ["seed": ["18446744073709551615"]])
        #expect(try large.integer("seed", in: 0...UInt64.max, default: 1) == .max)
        #expect(throws: CommandFailure.self) { try large.integer("seed", in: 0...Int.max, default: 1) }
        #expect(throws: CommandFailure.self) { try given.integer("jobs", in: 1...4, default: 1) }

        for text in [#"{"nonsense": 1}"#, "[]", "{", #"{"json": "yes"}"#, #"{"out": {}}"#] {
            try Data(text.utf8).write(to: file)
            #expect {
                try arguments(["--config", file.path, "u", "--out", "x"])
            } throws: {
                ($0 as? CommandFailure)?.exitCode == .badInput
            }
        }
    }
}
