import CoreModel
import Cryptography
import EventLoop
import Foundation
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
        closes: Bool = false, timeout: Duration = .seconds(60),
        _ answer: @escaping @Sendable (_ key: String) -> [UInt8]
    ) async throws -> String {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        return await withCheckedContinuation { continuation in
            loop.execute {
                let server = RawServer(loop, closes: closes, answer: answer)
                let client = WebSocketClient(loop: loop, handshakeTimeout: timeout)
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

    /// A good answer, with fields in place of the usual ones; `nil` leaves one out.
    private static func answer(
        _ key: String, _ changes: [String: String?] = [:], status: String = "101 Switching Protocols"
    ) -> [UInt8] {
        let digest = SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        var fields: [String: String?] = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": Data(digest).base64EncodedString(), "Sec-WebSocket-Protocol": "pdn-control-1",
        ]
        fields.merge(changes) { $1 }
        let text = fields.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }.joined()
        return Array("HTTP/1.1 \(status)\r\n\(text)\r\n".utf8)
    }

    struct Refusal: CustomTestStringConvertible {
        let testDescription: String
        let changes: [String: String?]
        var status = "101 Switching Protocols"

        static let all = [
            Refusal(
                testDescription: "the server's answer is not to this handshake",
                changes: ["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]),
            Refusal(
                testDescription: "the server's answer is not to this handshake", changes: ["Sec-WebSocket-Accept": nil]),
            Refusal(testDescription: "the server does not change to WebSockets", changes: ["Upgrade": "h2c"]),
            Refusal(testDescription: "the server does not change to WebSockets", changes: ["Connection": nil]),
            Refusal(
                testDescription: "the server uses an extension that was not asked for",
                changes: ["Sec-WebSocket-Extensions": "permessage-deflate"]),
            Refusal(testDescription: "the server speaks chat", changes: ["Sec-WebSocket-Protocol": "chat"]),
            Refusal(testDescription: "the server answered 200", changes: [:], status: "200 OK"),
            Refusal(testDescription: "the server answered 302", changes: ["Location": "/"], status: "302 Found"),
        ]
    }

    @Test(arguments: Refusal.all) func aBadAnswerIsRefused(refusal: Refusal) async throws {
        let reason = try await reason { Self.answer($0, refusal.changes, status: refusal.status) }
        #expect(reason == refusal.testDescription)
    }

    @Test func aServerThatIsGoneInTheMiddleOfAMessageIsReported() async throws {
        // With and without the subprotocol's name.
        for changes in [[:], ["Sec-WebSocket-Protocol": nil]] as [[String: String?]] {
            let reason = try await reason(closes: true) { Self.answer($0, changes) + [0x82, 100, 1, 2, 3] }
            #expect(reason == "the other side closed the connection")
        }
    }

    @Test func aServersMaskedFrameIsRefused() async throws {
        let reason = try await reason { Self.answer($0) + frame(0x82, [1, 2, 3]) }
        #expect(reason == "a frame breaks the protocol")
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

    @Test(arguments: ["", "HTTP/1.1 101 x\r\n"]) func silenceIsGivenUp(answer: String) async throws {
        let reason = try await reason(timeout: .milliseconds(300)) { _ in Array(answer.utf8) }
        #expect(reason == "the server did not answer in time")
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
