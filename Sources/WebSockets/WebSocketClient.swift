internal import CoreModel
public import EventLoop

/// Opens WebSockets from a loop. Confined to the loop; one is enough for all its connections. Releasing it ends them.
public final class WebSocketClient {
    /// Connections that one client can hold at once.
    public static let maximumConnectionCount = 1024
    /// How long a connection may take to come up by default.
    public static let handshakeTimeout: Duration = .seconds(10)

    private let loop: EventLoop
    private let certificateFile: String?
    private let handshakeTimeout: Duration
    private let connections: ConnectionSet

    /// Makes a client without a connection.
    ///
    /// - Parameters:
    ///   - certificateFile: A file of certificates to trust in place of the system's.
    ///   - handshakeTimeout: How long a connection may take to come up, the server's answer included.
    public init(
        loop: EventLoop, certificateFile: String? = nil, handshakeTimeout: Duration = WebSocketClient.handshakeTimeout
    ) {
        self.loop = loop
        self.handshakeTimeout = handshakeTimeout
        self.certificateFile = certificateFile
        connections = ConnectionSet(loop: loop)
    }

    deinit { connections.closeFromAnywhere("the client is gone") }

    /// The client that all sessions of a loop share.
    public static func shared(by loop: EventLoop) -> WebSocketClient {
        loop.checkIsolated()
        if let client = loop.attachments[ObjectIdentifier(WebSocketClient.self)] as? WebSocketClient { return client }
        let client = WebSocketClient(loop: loop)
        loop.attachments[ObjectIdentifier(WebSocketClient.self)] = client
        return client
    }

    /// Whether nobody on the way to an address can read along: it asks for TLS, or is the machine itself.
    public static func isConfidential(_ url: String) -> Bool {
        guard let address = WebSocketAddress(url) else { return false }
        if address.isSecure { return true }
        let isBracketed = address.host.hasPrefix("[") && address.host.hasSuffix("]")
        let host = isBracketed ? String(address.host.dropFirst().dropLast()) : address.host
        return NetworkAddress(numericHost: host.lowercased(), port: address.port)?.isLoopback ?? false
    }

    /// Opens a connection; set its callbacks at once. ``WebSocket/onClose`` tells of a failure.
    ///
    /// - Parameter url: ws or wss, or http or https for the same; certificates are verified.
    public func connect(to url: String) throws(WebSocketError) -> WebSocket {
        loop.checkIsolated()
        guard let address = WebSocketAddress(url) else { throw .invalidURL(url) }
        guard !connections.isClosed, connections.count < Self.maximumConnectionCount else {
            let socket = WebSocket(loop: loop)
            // The owner has yet to set its callbacks.
            nonisolated(unsafe) let refused = socket  // It only crosses from the loop to the loop.
            loop.execute { unsafe refused.end("no connection") }
            return socket
        }
        let socket = WebSocket(
            loop: loop,
            handshake: ClientHandshake(
                loop: loop, to: address, certificateFile: certificateFile, timeout: handshakeTimeout))
        connections.add(socket)
        return socket
    }
}
