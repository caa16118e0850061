import CoreModel
import EventLoop
import Testing
import WebSockets

/// A client and servers that do not do what they must.
@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    /// A server of one connection that answers its request with what `answer` makes of the key, and may close then.
    private final class RawServer {
        private var listener: TCPListener?
        private var connection: TCPConnection?
        private var text = ""

        init(_ loop: EventLoop, closes: Bool, answer: @escaping (_ key: String) -> [UInt8]) {
            listener = try? TCPListener(loop: loop, at: loopback) { [unowned self] connection in
                self.connection = connection
                connection.onRead = { [unowned self] bytes in
                    text += String(
                        decoding: (0..<bytes.byteCount).map {
                            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
                        }, as: UTF8.self)
                    guard text.hasSuffix("\r\n\r\n") else { return }
                    let lines = text.split(separator: "\r\n")
                    let key = lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }.map { String($0.dropFirst(19)) }
                    self.connection?.write(answer(key ?? ""))
                    guard closes else { return }
                    self.connection?.close()
                    self.connection = nil
                }
                connection.startReading()
            }
        }

        var port: UInt16 { listener?.localAddress?.port ?? 0 }
    }

    /// What a client says of a server that answers so.
    private func reason(
        closes: Bool = false, _ answer: @escaping @Sendable (_ key: String) -> [UInt8]
    ) async throws -> String {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        return await withCheckedContinuation { continuation in
            loop.execute {
                let server = RawServer(loop, closes: closes, answer: answer)
                let client = WebSocketClient(loop: loop, handshakeTimeout: .milliseconds(300))
                guard let socket = try? client.connect(to: "ws://127.0.0.1:\(server.port)/path?query") else {
                    return continuation.resume(returning: "")
                }
                socket.onClose = { reason in
                    continuation.resume(returning: reason)
                    _ = (server, client)
                }
            }
        }
    }

    private static func head(_ key: String, _ more: String = "", status: String = "101 x", accept: String? = nil)
        -> [UInt8]
    {
        // The one key whose answer the specification gives can't be chosen: good answers come from the module's server.
        Array(
            ("HTTP/1.1 \(status)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                + "\(accept ?? key)\r\n\(more)\r\n").utf8)
    }

    @Test func anAnswerToAnotherHandshakeIsRefused() async throws {
        #expect(try await reason { Self.head($0) } == "the server's answer is not to this handshake")
    }

    @Test func anotherStatusIsRefused() async throws {
        #expect(try await reason { Self.head($0, status: "200 OK") } == "the server answered 200")
        #expect(try await reason { Self.head($0, status: "302 x") } == "the server answered 302")
    }

    @Test func whatIsNoHTTPIsRefused() async throws {
        #expect(try await reason { _ in Array("SSH-2.0-x\r\n\r\n".utf8) } == "the answer is no HTTP")
        #expect(try await reason { _ in Array("HTTP/1.1 101 x\r\nno colon\r\n\r\n".utf8) } == "the answer is no HTTP")
    }

    @Test func anEndlessAnswerIsRefused() async throws {
        #expect(
            try await reason { _ in Array("HTTP/1.1 101 x\r\n".utf8) + [UInt8](repeating: 0x61, count: 100_000) }
                == "the server's answer is too long")
    }

    @Test func silenceIsGivenUp() async throws {
        #expect(try await reason { _ in [] } == "the server did not answer in time")
        #expect(try await reason { _ in Array("HTTP/1.1 101 x\r\n".utf8) } == "the server did not answer in time")
    }

    @Test func aServerThatHangsUpIsReported() async throws {
        #expect(try await reason(closes: true) { _ in [] } == "the server closed the connection")
    }

    @Test func aServerThatIsGoneEndsTheConnection() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        let reason: String = await withCheckedContinuation { continuation in
            loop.execute {
                guard let socket = try? WebSocketClient.shared(by: loop).connect(to: server.url) else { return }
                socket.onOpen = { [unowned socket] in
                    // So much that some of it is on its way when the server goes.
                    for _ in 0..<15 { socket.send([UInt8](repeating: 1, count: 65536)) }
                }
                socket.onMessage = { _ in server.release() }
                socket.onClose = { continuation.resume(returning: $0) }
            }
        }
        #expect(!reason.isEmpty)
    }
}
