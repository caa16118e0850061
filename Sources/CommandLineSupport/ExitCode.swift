internal import Glibc

/// How a command ended, as scripts see it.
public struct ExitCode: RawRepresentable, Hashable, Sendable {
    /// The process's exit status.
    public let rawValue: Int32

    /// Wraps an exit status.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Everything asked for was done.
    public static let done = ExitCode(rawValue: 0)
    /// The command started its work and failed in it.
    public static let failed = ExitCode(rawValue: 1)
    /// The command line is wrong.
    public static let usage = ExitCode(rawValue: 2)
    /// An input is wrong: a manifest, a key, a scenario, a configuration file.
    public static let badInput = ExitCode(rawValue: 3)
    /// Something the command needs could not be reached.
    public static let unreachable = ExitCode(rawValue: 4)
    /// Ctrl-C, after a clean stop.
    public static let interrupted = ExitCode(rawValue: 130)

    /// Ends the process.
    ///
    /// What was printed is written out, but no exit handler runs: those of OpenSSL and others free what threads that are
    /// just ending still use. A command whose output is lost, on a full disk for instance, has not done what was asked.
    public func leave() -> Never {
        fflush(nil)
        guard self == .done, let failure = Terminal.outputFailure else { _exit(rawValue) }
        Terminal.note("error: what was printed could not be written: \(failure)")
        _exit(Self.failed.rawValue)
    }
}
