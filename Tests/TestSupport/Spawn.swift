import Glibc

/// What went wrong around a test, as a sentence.
public struct TestFailure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Starts programs as a shell would: with no signal blocked or ignored, though the threads that run tests block most.
enum Spawn {
    /// Starts a program, looked up in the path when it has no slash.
    ///
    /// - Parameters:
    ///   - words: The program's name and its arguments.
    ///   - descriptors: Its standard input, output and errors.
    /// - Returns: The process's identifier.
    static func run(_ words: [String], descriptors: [Int32]) throws(TestFailure) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard let program = arguments[0] else { throw TestFailure("no memory is left") }
        var child: pid_t = 0
        let code = posix_spawnp(&child, program, &actions, &attributes, arguments, environ)
        guard code == 0 else { throw TestFailure("\(words[0]) does not start: error \(code)") }
        return child
    }

    /// A connection of two ends that no child inherits, in one step; a pipe would need two.
    static func connection() throws(TestFailure) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { throw TestFailure("no descriptor is left") }
        return (ends[0], ends[1])
    }
}
