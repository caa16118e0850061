internal import CLibuv

/// Calls a handler on the loop for each delivery of a signal. Confined to the loop; releasing it ends the watch.
@safe public final class SignalWatcher {
    private let handle: LoopHandle
    private let handler: () -> Void

    /// Watches for `signal` (SIGINT and the like).
    public init(loop: EventLoop, signal: Int32, handler: @escaping () -> Void) throws(LoopError) {
        self.handler = handler
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_signal_t>.size) { loop, watcher in
            unsafe uv_signal_init(loop, watcher.assumingMemoryBound(to: uv_signal_t.self))
        }
        handle.owner = self
        guard let watcher = unsafe handle.pointer?.assumingMemoryBound(to: uv_signal_t.self) else {
            throw .cancelled
        }
        let code = unsafe uv_signal_start(
            watcher,
            { watcher, _ in unsafe LoopHandle.owner(of: watcher, as: SignalWatcher.self)?.handler() }, signal)
        if code < 0 {
            handle.close()
            throw LoopError(rawValue: code)
        }
    }

    deinit { handle.closeFromAnywhere() }

    /// Ends the watch.
    public func close() { handle.close() }
}
