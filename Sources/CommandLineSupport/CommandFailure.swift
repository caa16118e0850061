/// Why a command stops, for the person who called it.
public struct CommandFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the process exits with.
    public var exitCode: ExitCode
    /// What happened and what to do, as one line without a full stop.
    public var message: String

    /// Makes a failure.
    public init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }

    public var description: String { message }

    /// The command line is wrong.
    public static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }
    /// The work failed.
    public static func failed(_ message: String) -> CommandFailure { CommandFailure(.failed, message) }
    /// An input is wrong.
    public static func badInput(_ message: String) -> CommandFailure { CommandFailure(.badInput, message) }
    /// Something needed could not be reached.
    public static func unreachable(_ message: String) -> CommandFailure { CommandFailure(.unreachable, message) }
}
