import CoreModel
import EventLoop
import WebSockets

let loopback = NetworkAddress(ipv4: 0x7F00_0001, port: 0)

/// What can go wrong before a test begins.
enum SetUpError: Error { case noServer, noAnswer, noProcess }

/// A server that sends each message back, on a loop of its own.
final class EchoServer: @unchecked Sendable {  // `server` and `sockets` are touched on the loop only.
    let loop: EventLoop
    private(set) var port: UInt16 = 0
    private var server: WebSocketServer?
    private var sockets: [ObjectIdentifier: WebSocket] = [:]
    /// Why connections ended.
    let ends: AsyncStream<String>
    /// Why proxies were refused.
    let refusals: AsyncStream<String>

    init(
        maximumIncomingByteCount: Int = WebSocket.maximumMessageByteCount,
        requestTimeout: Duration = WebSocketServer.requestTimeout, trustedProxies: Set<Bytes16> = [],
        maximumConnectionCountPerHost: Int? = nil,
        onAccept: @escaping @Sendable (WebSocket) -> Void = { _ in }
    ) async throws {
        loop = try EventLoop.startThread(named: "ws-server")
        let (refusals, refused) = AsyncStream.makeStream(of: String.self)
        self.refusals = refusals
        let (ends, continuation) = AsyncStream.makeStream(of: String.self)
        self.ends = ends
        port = await withCheckedContinuation { started in
            loop.execute {
                self.server = try? WebSocketServer(
                    loop: self.loop, at: loopback,
                    maximumConnectionCountPerHost: maximumConnectionCountPerHost
                        ?? WebSocketServer.maximumConnectionCountPerHost,
                    countsLoopback: maximumConnectionCountPerHost != nil, requestTimeout: requestTimeout,
                    trustedProxies: trustedProxies,
                    onRefusal: { refused.yield($0) },
                    onPage: { method, path in
                        HTTPPage(status: method == "POST" ? 405 : 200, body: Array("\(method) \(path)".utf8))
                    },
                    onSocket: { [unowned self] socket in
                        socket.maximumIncomingByteCount = maximumIncomingByteCount
                        sockets[ObjectIdentifier(socket)] = socket
                        socket.onMessage = { [unowned socket] in socket.send($0) }
                        socket.onClose = { [unowned self, key = ObjectIdentifier(socket)] reason in
                            sockets[key] = nil
                            continuation.yield(reason)
                        }
                        onAccept(socket)
                        return true
                    })
                started.resume(returning: self.server?.localAddress.port ?? 0)
            }
        }
        guard port != 0 else { throw SetUpError.noServer }
    }

    var url: String { "ws://127.0.0.1:\(port)/" }

    /// Why the next connection ended.
    func end() async -> String? { await ends.first { _ in true } }

    /// Releases the server, and its loop later.
    func release() { loop.execute { self.releaseNow() } }

    /// Releases the server; on its loop.
    func releaseNow() { server = nil }

    func stop() { loop.stopAndWait() }
}
