import CommandLineSupport
import EventLoop
import Glibc

/// Ctrl-C on a loop, for as long as a command wants it.
actor Interrupt {
    private let loop: EventLoop
    private var watchers: [SignalWatcher] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Calls `handler` on the loop for SIGINT and SIGTERM until ``close()``.
    static func watch(on loop: EventLoop, _ handler: @escaping @Sendable () -> Void) async -> Interrupt {
        let interrupt = Interrupt(loop)
        await interrupt.start(handler)
        return interrupt
    }

    private func start(_ handler: @escaping @Sendable () -> Void) {
        // Where a signal can't be watched it ends the process as ever.
        watchers = [SIGINT, SIGTERM].compactMap { try? SignalWatcher(loop: loop, signal: $0, handler: handler) }
    }

    /// Leaves the signals to the system again.
    func close() {
        for watcher in watchers { watcher.close() }
        watchers = []
    }
}
