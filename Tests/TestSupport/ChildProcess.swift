public import Foundation
import Glibc
import Synchronization

/// A program that a test runs. It ends with the handle, and with this process, however that ends.
///
/// A thread of its own starts it and waits for it, so that no thread that runs tests does.
public final class ChildProcess: Sendable {
    /// How it ended.
    public struct Outcome: Sendable {
        /// The exit code; minus the signal's number when a signal ended it.
        public var status: Int32
        /// What it wrote to its output.
        public var output: Data
        /// What it wrote to its errors, when they were kept.
        public var errors: Data

        /// The output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
        /// The errors as text.
        public var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    /// What the handle and the thread share.
    private final class Shared: Sendable {
        struct State {
            var outcome = Outcome(status: 0, output: Data(), errors: Data())
            var hasEnded = false
            var lineWaiters: [CheckedContinuation<String, Never>] = []
            var endWaiters: [CheckedContinuation<Outcome, Never>] = []
        }

        let state = Mutex(State())
    }

    /// The process's identifier.
    public let identifier: Int32
    private let shared: Shared

    private init(identifier: Int32, shared: Shared) {
        self.identifier = identifier
        self.shared = shared
    }

    deinit { send(SIGKILL) }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path; a name alone is looked up.
    ///   - keepsErrors: Whether its errors are read; else they go nowhere.
    public static func start(
        _ program: String, _ arguments: [String] = [], in directory: String? = nil, keepsErrors: Bool = false
    ) async throws -> ChildProcess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let shared = Shared()
                do throws(TestFailure) {
                    let (output, errors) = (try Spawn.connection(), try Spawn.connection())
                    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
                    let child = Result { () throws(TestFailure) in
                        // The signal comes when the thread ends that started the child: this one outlives it.
                        let place = directory.map { ["env", "--chdir=\($0)"] } ?? []
                        return try Spawn.run(
                            ["setpriv", "--pdeathsig", "KILL"] + place + [program] + arguments,
                            descriptors: [nothing, output.other, keepsErrors ? errors.other : nothing])
                    }
                    for descriptor in [nothing, output.other, errors.other] { close(descriptor) }
                    defer { for descriptor in [output.own, errors.own] { close(descriptor) } }
                    let identifier = try child.get()
                    continuation.resume(returning: ChildProcess(identifier: identifier, shared: shared))
                    read(output.own, errors.own, into: shared)
                    reap(identifier, shared)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Runs a program to its end.
    public static func run(
        _ program: String, _ arguments: [String] = [], in directory: String? = nil, keepsErrors: Bool = false
    ) async throws -> Outcome {
        try await start(program, arguments, in: directory, keepsErrors: keepsErrors).finish()
    }

    /// Runs a program that must end well, and gives its output.
    @discardableResult
    public static func output(
        _ program: String, _ arguments: [String] = [], in directory: String? = nil
    ) async throws -> Data {
        let outcome = try await run(program, arguments, in: directory, keepsErrors: true)
        guard outcome.status == 0 else {
            throw TestFailure("\(program) \(arguments) ended with \(outcome.status): \(outcome.errorText.suffix(500))")
        }
        return outcome.output
    }

    /// Waits for the first line of the output; empty when it ends without one.
    public func firstLine() async -> String {
        await withCheckedContinuation { continuation in
            let line = shared.state.withLock { state -> String? in
                if let line = Self.firstLine(of: state) { return line }
                state.lineWaiters.append(continuation)
                return nil
            }
            if let line { continuation.resume(returning: line) }
        }
    }

    /// Waits for the end.
    public func finish() async -> Outcome {
        let outcome = await withCheckedContinuation { continuation in
            let outcome = shared.state.withLock { state -> Outcome? in
                if state.hasEnded { return state.outcome }
                state.endWaiters.append(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
        withExtendedLifetime(self) {}
        return outcome
    }

    /// Sends a signal; nothing when it has ended.
    public func send(_ signal: Int32) {
        shared.state.withLock { state in
            if !state.hasEnded { kill(identifier, signal) }
        }
    }

    /// Whether it runs.
    public var isRunning: Bool { shared.state.withLock { !$0.hasEnded } }

    private static func firstLine(of state: Shared.State) -> String? {
        let output = state.outcome.output
        let end = output.firstIndex(of: 0x0A) ?? (state.hasEnded ? output.endIndex : nil)
        return end.map { String(decoding: output[..<$0], as: UTF8.self) }
    }

    /// Reads both streams to their ends, on the child's thread.
    private static func read(_ output: Int32, _ errors: Int32, into shared: Shared) {
        var streams = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while streams.contains(where: { $0.fd >= 0 }) {
            guard poll(&streams, nfds_t(streams.count), -1) > 0 else { continue }
            for index in streams.indices where streams[index].fd >= 0 && streams[index].revents != 0 {
                let count = Glibc.read(streams[index].fd, &buffer, buffer.count)
                guard count > 0 else {
                    // Descriptors below zero are passed over.
                    if count == 0 || errno != EINTR { streams[index].fd = -1 }
                    continue
                }
                take(buffer[..<count], isOutput: index == 0, shared)
            }
        }
    }

    private static func take(_ bytes: ArraySlice<UInt8>, isOutput: Bool, _ shared: Shared) {
        let (line, waiters) = shared.state.withLock { state -> (String, [CheckedContinuation<String, Never>]) in
            if isOutput { state.outcome.output += bytes } else { state.outcome.errors += bytes }
            guard let line = firstLine(of: state) else { return ("", []) }
            defer { state.lineWaiters = [] }
            return (line, state.lineWaiters)
        }
        for waiter in waiters { waiter.resume(returning: line) }
    }

    /// Waits for the end, on the child's thread.
    private static func reap(_ identifier: Int32, _ shared: Shared) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let state = shared.state.withLock { state in
            // The identifier is free for others from here on, so under the lock that senders of signals take.
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            let signal = status & 0x7F
            state.outcome.status = signal == 0 ? (status >> 8) & 0xFF : -signal
            state.hasEnded = true
            defer { (state.lineWaiters, state.endWaiters) = ([], []) }
            return state
        }
        for waiter in state.lineWaiters { waiter.resume(returning: firstLine(of: state) ?? "") }
        for waiter in state.endWaiters { waiter.resume(returning: state.outcome) }
    }
}
