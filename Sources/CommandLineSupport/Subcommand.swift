/// One command of a tool with several.
public protocol Subcommand: Sendable {
    /// Its name as typed after the tool's: `sign`.
    static var name: String { get }

    /// What it does and takes; the specification's name is the full one, `pdn sign`.
    static var specification: CommandSpecification { get }

    /// Does the work.
    ///
    /// - Throws: ``CommandFailure``; any other error ends the process with exit code 1 and its description.
    static func run(_ arguments: CommandArguments) async throws -> ExitCode
}
