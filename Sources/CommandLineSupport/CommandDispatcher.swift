/// Finds the command that a command line asks for and runs it.
public struct CommandDispatcher: Sendable {
    private let tool: String
    private let summary: String
    private let version: String
    private let commands: [any Subcommand.Type]

    /// Describes a tool with several commands.
    public init(tool: String, summary: String, version: String, commands: [any Subcommand.Type]) {
        self.tool = tool
        self.summary = summary
        self.version = version
        self.commands = commands
    }

    /// Runs what `arguments` (without the process's own name) ask for; errors are reported on stderr.
    public func run(_ arguments: [String]) async -> ExitCode {
        guard let first = arguments.first else {
            Terminal.note(help)
            return .usage
        }
        switch first {
        case "--help", "-h", "help":
            guard first == "help", arguments.count > 1 else {
                Terminal.print(help)
                return .done
            }
            return await run([arguments[1], "--help"])
        case "--version":
            Terminal.print("\(tool) \(version)")
            return .done
        default:
            guard let command = commands.first(where: { $0.name == first }) else {
                Terminal.note("\(tool): there is no command \(first); '\(tool) --help' lists them")
                return .usage
            }
            let rest = Array(arguments.dropFirst())
            return await Self.run(command.specification, version: version, rest) { arguments in
                try await command.run(arguments)
            }
        }
    }

    /// Runs a tool that has no subcommands, or one command of a tool, with the same conventions.
    ///
    /// - Parameters:
    ///   - specification: What it takes.
    ///   - version: What `--version` shows.
    ///   - arguments: Without the name of the process or command.
    ///   - body: The work.
    public static func run(
        _ specification: CommandSpecification, version: String, _ arguments: [String],
        _ body: (CommandArguments) async throws -> ExitCode
    ) async -> ExitCode {
        do {
            switch try CommandParser.parse(arguments, for: specification) {
            case .help:
                Terminal.print(specification.help)
                return .done
            case .version:
                Terminal.print("\(specification.name) \(version)")
                return .done
            case .run(let arguments):
                return try await body(arguments)
            }
        } catch let failure as CommandFailure {
            Terminal.note("\(specification.name): \(failure.message)")
            if failure.exitCode == .usage { Terminal.note("'\(specification.name) --help' shows what it takes") }
            return failure.exitCode
        } catch {
            Terminal.note("\(specification.name): \(error)")
            return .failed
        }
    }

    private var help: String {
        let width = (commands.map { $0.name.count }.max() ?? 0) + 2
        let list = commands.map { command in
            "  \(command.name)" + String(repeating: " ", count: width - command.name.count)
                + command.specification.summary
        }
        return
            (["\(tool): \(summary)", "", "usage: \(tool) COMMAND [options]", ""] + list
            + ["", "'\(tool) COMMAND --help' shows what a command takes."]).joined(separator: "\n")
    }
}
