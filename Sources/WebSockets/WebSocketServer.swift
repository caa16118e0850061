public import CoreModel
public import EventLoop

/// Serves WebSockets and plain pages at one port. Confined to the loop.
public final class WebSocketServer {
    private let context: WebSocketContext
    private let address: NetworkAddress

    /// Listens at `address`; port 0 lets the system choose.
    ///
    /// - Parameters:
    ///   - maximumConnectionCount: Connections at once.
    ///   - onPage: Answers a request for a page by method and path; called on the loop.
    ///   - onSocket: Takes a new connection, whose callbacks it sets; false turns it away.
    public init(
        loop: EventLoop, at address: NetworkAddress, maximumConnectionCount: Int = 4096,
        onPage: @escaping (_ method: String, _ path: String) -> HTTPPage,
        onSocket: @escaping (WebSocket) -> Bool
    ) throws(WebSocketError) {
        self.address = address
        let text = address.description
        let host = String(text.prefix(upTo: text.lastIndex(of: ":") ?? text.endIndex))
        let isAny = address.host == Bytes16(high: 0, low: 0) || address.ipv4 == 0
        let interface = isAny ? nil : host.filter { $0 != "[" && $0 != "]" }
        guard
            let context = WebSocketContext(
                loop: loop, port: Int32(address.port), interface: interface,
                descriptorLimit: UInt32(clamping: maximumConnectionCount + 16))
        else { throw .cannotListen(text) }
        guard context.port > 0 else {
            context.close()
            throw .cannotListen(text)
        }
        self.context = context
        context.onPage = onPage
        context.onAccept = onSocket
    }

    deinit { context.close() }

    /// Where the server listens, with the port that the system chose.
    public var localAddress: NetworkAddress {
        NetworkAddress(host: address.host, port: UInt16(clamping: context.port))
    }

    /// Stops listening and ends every connection.
    public func close() { context.close() }
}
