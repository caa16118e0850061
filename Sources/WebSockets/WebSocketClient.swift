internal import CoreModel
public import EventLoop

/// Opens WebSockets from a loop. Confined to the loop; one is enough for all its connections.
public final class WebSocketClient {
    /// Connections that one client can hold at once.
    public static let maximumConnectionCount = 1024

    private let loop: EventLoop
    private let certificateFile: String?
    private var context: WebSocketContext?

    /// Makes a client that takes no memory before its first connection.
    ///
    /// - Parameter certificateFile: A file of certificates to trust in place of the system's.
    public init(loop: EventLoop, certificateFile: String? = nil) {
        self.loop = loop
        self.certificateFile = certificateFile
    }

    deinit { context?.close() }

    /// The client that all sessions of a loop share.
    public static func shared(by loop: EventLoop) -> WebSocketClient {
        loop.checkIsolated()
        if let client = loop.attachments[ObjectIdentifier(WebSocketClient.self)] as? WebSocketClient { return client }
        let client = WebSocketClient(loop: loop)
        loop.attachments[ObjectIdentifier(WebSocketClient.self)] = client
        return client
    }

    /// Opens a connection; set its callbacks at once. ``WebSocket/onClose`` tells of a failure.
    ///
    /// - Parameter url: ws or wss, or http or https for the same; certificates are verified.
    public func connect(to url: String) throws(WebSocketError) -> WebSocket {
        loop.checkIsolated()
        guard let parts = Self.parts(of: url) else { throw .invalidURL(url) }
        if context == nil {
            context = WebSocketContext(
                loop: loop, descriptorLimit: UInt32(Self.maximumConnectionCount), certificateFile: certificateFile)
        }
        let socket = WebSocket()
        // The library may report a failure before it returns: tell the owner once it has set its callbacks.
        let isStarted =
            context?.connect(
                socket, host: parts.host, port: parts.port, path: parts.path, isSecure: parts.isSecure) ?? false
        if !isStarted { loop.execute { [box = Box(socket)] in box.socket.end("no connection") } }
        return socket
    }

    private struct Box: @unchecked Sendable {  // It only crosses from the loop to the loop.
        let socket: WebSocket
        init(_ socket: WebSocket) { self.socket = socket }
    }

    private static func parts(of url: String) -> (host: String, port: Int32, path: String, isSecure: Bool)? {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        let isSecure: Bool
        switch url[..<colon].lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: return nil
        }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(authority.count).prefix { $0 != "#" }
        let hostAndPort = authority.split(separator: "@").last ?? ""
        var host = String(hostAndPort)
        var port: Int32 = isSecure ? 443 : 80
        if let mark = hostAndPort.lastIndex(of: ":"), !hostAndPort[mark...].contains("]") {
            guard let number = UInt16(hostAndPort[hostAndPort.index(after: mark)...]) else { return nil }
            port = Int32(number)
            host = String(hostAndPort[..<mark])
        }
        host = host.filter { $0 != "[" && $0 != "]" }
        guard !host.isEmpty else { return nil }
        return (host, port, path.hasPrefix("/") ? String(path) : "/" + path, isSecure)
    }
}
