internal import EventLoop

/// What carries a WebSocket's bytes: a stream that doesn't block, watched on the loop.
///
/// Confined to the loop. The last reference closes it.
protocol Transport: AnyObject {
    /// What was watched for happened.
    var onReady: ((SocketWatcher.Events) -> Void)? { get set }
    /// Watches for `events` from now on.
    func watch(_ events: SocketWatcher.Events)
    /// Reads what has come.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketProgress
    /// Writes as much as the system takes. After ``SocketProgress/wouldBlock`` the next write begins with the same bytes
    /// at the same address.
    func write(_ bytes: UnsafeRawBufferPointer) -> SocketProgress
    /// Tells the other side that nothing more comes, where the stream can say it.
    func finishWriting()
    /// Closes the stream; no callback comes any more. Harmless when closed.
    func close()
}
