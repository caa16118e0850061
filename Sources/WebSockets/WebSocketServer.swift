public import CoreModel
public import EventLoop

/// Serves WebSockets and plain pages at one port. Confined to the loop. Releasing it closes it.
///
/// A request's head has at most 8 KiB, and each request and each pause between two may take
/// ``requestTimeout`` and half of it again.
public final class WebSocketServer {
    /// How long a request may take by default.
    public static let requestTimeout: Duration = .seconds(10)

    /// Connections at once from one IPv4 address or one /48 of IPv6, by default.
    public static let maximumConnectionCountPerHost = 128

    private let daemon: HTTPDaemon
    private let connections: ConnectionSet
    private let address: NetworkAddress

    /// Listens at `address`; port 0 lets the system choose. The IPv6 wildcard takes IPv4 too.
    ///
    /// - Parameters:
    ///   - maximumConnectionCount: Connections at once; more wait to be accepted.
    ///   - maximumConnectionCountPerHost: Connections at once from one IPv4 address or one /48 of IPv6, before and after
    ///     their handshakes; more are closed. Trusted proxies are exempt.
    ///   - countsLoopback: Whether a loopback address is no exception to that.
    ///   - requestTimeout: How long a request may take, its head and its answer; a connection without one too.
    ///   - trustedProxies: Hosts that open WebSockets for others: the last hop of their `X-Forwarded-For` is the
    ///     connection's ``WebSocket/remoteAddress``. Without a good one the handshake is refused.
    ///   - onRefusal: Is told of each handshake that was refused for that.
    ///   - onPage: Answers a request for a page by method and path, which comes without its query; called on the loop.
    ///   - onSocket: Takes a new connection, whose callbacks it sets; false turns it away.
    public init(
        loop: EventLoop, at address: NetworkAddress, maximumConnectionCount: Int = 4096,
        maximumConnectionCountPerHost: Int = WebSocketServer.maximumConnectionCountPerHost,
        countsLoopback: Bool = false,
        requestTimeout: Duration = WebSocketServer.requestTimeout, trustedProxies: Set<Bytes16> = [],
        onRefusal: @escaping (String) -> Void = { _ in },
        onPage: @escaping (_ method: String, _ path: String) -> HTTPPage,
        onSocket: @escaping (WebSocket) -> Bool
    ) throws(WebSocketError) {
        self.address = address
        guard
            let daemon = HTTPDaemon(
                loop: loop, at: address, maximumConnectionCount: maximumConnectionCount,
                requestTimeout: requestTimeout, trustedProxies: trustedProxies,
                maximumCountPerHost: maximumConnectionCountPerHost, countsLoopback: countsLoopback)
        else { throw .cannotListen(address.description) }
        let connections = ConnectionSet(loop: loop)
        self.daemon = daemon
        self.connections = connections
        connections.onClose = { daemon.close() }
        daemon.onPage = onPage
        daemon.onRefusal = onRefusal
        daemon.onUpgrade = { [weak connections] upgraded in
            guard let connections, !connections.isClosed else { return upgraded.close() }
            let socket = WebSocket(loop: loop)
            connections.add(socket)
            socket.remoteAddress = upgraded.remoteAddress
            socket.open(upgraded, role: .server, received: [])
            if onSocket(socket) { socket.begin() } else { socket.end("turned away") }
        }
    }

    deinit { connections.closeFromAnywhere("the server is gone") }

    /// Where the server listens, with the port that the system chose; port 0 once closed.
    public var localAddress: NetworkAddress { NetworkAddress(host: address.host, port: daemon.port) }

    /// Stops listening and ends every connection.
    public func close() { connections.close("the server is closed") }
}
