internal import EventLoop

/// The connections of one server or client: kept until their end, and ended with their owner or when the loop stops.
///
/// Confined to the loop; ``closeFromAnywhere(_:)`` is for owners that go on another thread.
final class ConnectionSet {
    /// Called when the set is closed, after its connections have ended.
    var onClose: (() -> Void)?

    private let loop: EventLoop
    private var sockets: [ObjectIdentifier: WebSocket] = [:]
    private(set) var isClosed = false

    init(loop: EventLoop) {
        loop.checkIsolated()
        self.loop = loop
        // Strongly, so that closing doesn't depend on an owner; `close` takes it back.
        loop.onStop(ObjectIdentifier(self)) { self.close("the loop stopped") }
    }

    var count: Int { sockets.count }

    func add(_ socket: WebSocket) {
        let key = ObjectIdentifier(socket)
        sockets[key] = socket
        socket.onEnd = { [weak self] in self?.sockets[key] = nil }
    }

    /// Ends every connection, with a word to its owner.
    func close(_ reason: String) {
        loop.checkIsolated()
        guard !isClosed else { return }
        isClosed = true
        loop.removeStopHandler(ObjectIdentifier(self))
        for socket in Array(sockets.values) { socket.end(reason) }
        let notify = onClose
        onClose = nil
        notify?()
    }

    func closeFromAnywhere(_ reason: String) {
        if loop.isCurrent { return close(reason) }
        // The owner is gone: nobody else has the set. A loop that has stopped closed it.
        nonisolated(unsafe) let set = self
        loop.execute { unsafe set.close(reason) }
    }
}
