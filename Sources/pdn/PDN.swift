import CommandLineSupport

/// The command line tool.
enum PDN {
    /// The version that `--version` shows.
    static let version = "0.1.0"

    /// Every command, in the order of the help.
    static let commands: [any Subcommand.Type] = [
        PlayCommand.self,
        SwarmCommand.self,
        KeygenCommand.self,
        InspectCommand.self,
        SignCommand.self,
        TokenCommand.self,
        SimulateCommand.self,
        ReplayCommand.self,
    ]

    /// Runs what the arguments (without the process's own name) ask for.
    static func run(_ arguments: [String]) async -> ExitCode {
        let dispatcher = CommandDispatcher(
            tool: "pdn", summary: "plays HLS and DASH streams whose segments come from the CDN or from other viewers",
            version: version, commands: commands)
        return await dispatcher.run(arguments)
    }
}
