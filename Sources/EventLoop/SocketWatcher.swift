internal import CLibuv

/// Watches a socket that another library owns. Confined to the loop; releasing it ends the watch.
@safe public final class SocketWatcher {
    /// What to watch for, and what happened.
    public struct Events: OptionSet, Sendable {
        public let rawValue: Int32

        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// There is something to read, or the end.
        public static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        /// There is room to write.
        public static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let loop: EventLoop
    private let handle: LoopHandle
    private let handler: (Events, LoopError?) -> Void

    /// Makes a watch that is not yet on.
    ///
    /// - Throws: ``LoopError`` when `descriptor` is no socket.
    public init(
        loop: EventLoop, descriptor: Int32, handler: @escaping (Events, LoopError?) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.handler = handler
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_poll_t>.size) { loop, poll in
            unsafe uv_poll_init_socket(loop, poll.assumingMemoryBound(to: uv_poll_t.self), descriptor)
        }
        handle.owner = self
    }

    deinit { handle.closeFromAnywhere() }

    /// Watches for `events` from now on, in place of those before.
    public func watch(_ events: Events) {
        loop.checkIsolated()
        guard let poll = unsafe handle.pointer?.assumingMemoryBound(to: uv_poll_t.self) else { return }
        if events.isEmpty {
            unsafe _ = uv_poll_stop(poll)
            return
        }
        unsafe _ = uv_poll_start(poll, events.rawValue) { poll, status, events in
            guard let watcher = unsafe LoopHandle.owner(of: poll, as: SocketWatcher.self) else { return }
            watcher.handler(Events(rawValue: events), status < 0 ? LoopError(rawValue: status) : nil)
        }
    }

    /// Ends the watch.
    public func close() { handle.close() }
}
