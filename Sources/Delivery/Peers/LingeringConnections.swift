import CoreModel
import EventLoop

/// Connections whose last frame is on its way: they stay open until the other side has read it and closed, or for a
/// second. Closed at once with bytes unread, they would be reset and the frame lost. Confined to the loop.
final class LingeringConnections {
    private static let span: Duration = .seconds(1)

    private let loop: EventLoop
    private let limit: Int
    /// The oldest first.
    private var connections: [(connection: TCPConnection, end: MonotonicInstant)] = []
    private var timer: LoopTimer?

    /// Keeps at most `limit` connections; beyond, the oldest is closed.
    init(loop: EventLoop, limit: Int) {
        self.loop = loop
        self.limit = limit
        timer = LoopTimer(loop: loop) { [weak self] in self?.closeOldest() }
    }

    /// Keeps a connection for a while, what it brings unread.
    func insert(_ connection: TCPConnection) {
        guard connection.isOpen else { return connection.close() }
        if connections.count >= limit { connections.removeFirst().connection.close() }
        connection.onRead = { _ in }
        connection.onDrain = nil
        connection.onClose = { [weak self, weak connection] _ in
            self?.connections.removeAll { $0.connection === connection }
        }
        connection.resumeReading()
        connections.append((connection, loop.now.advanced(by: Self.span)))
        if connections.count == 1 { closeOldest() }
    }

    /// Closes them all.
    func close() {
        for (connection, _) in connections { connection.close() }
        connections = []
        timer?.cancel()
    }

    private func closeOldest() {
        let now = loop.now
        while let first = connections.first, first.end <= now { connections.removeFirst().connection.close() }
        if let first = connections.first { timer?.arm(at: first.end) }
    }
}
