import EventLoop
import Foundation
import TestSupport
import Testing
import WebSockets

/// The other implementation: the package `websockets` for Python.
enum PythonPeer {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "Python/run.sh").path

    /// Whether it can be run here; making its environment can take a while the first time.
    static var isAvailable: Bool {
        get async { await check.value }
    }

    private static let check = Task {
        let outcome = try? await start("server.py", ["--help"]).finish()
        return outcome?.status == 0
    }

    static func start(_ name: String, _ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start("bash", [script, name] + arguments)
    }
}

@Suite(
    .timeLimit(.minutes(5)),
    .enabled("needs python3 with websockets, or the network to install it") { await PythonPeer.isAvailable })
struct InteroperabilityTests {
    @Test func theOtherImplementationsClientTalksToTheServer() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let outcome = try await PythonPeer.start("client.py", [server.url]).finish()
        #expect(outcome.text == "ok\n")
    }

    /// Runs a server of the other implementation while `body` runs.
    private func withServer(_ arguments: [String], _ body: (UInt16) async throws -> Void) async throws {
        let process = try await PythonPeer.start("server.py", arguments)
        guard let port = UInt16(await process.firstLine()) else { throw SetUpError.noServer }
        try await body(port)
        process.send(SIGKILL)
        _ = await process.finish()
    }

    /// Sends messages to an echoing server, and gives what came back and how it ended.
    private func exchange(
        _ url: String, _ messages: [[UInt8]], certificateFile: String? = nil
    ) async throws -> (received: [[UInt8]], reason: String) {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        return await withCheckedContinuation { continuation in
            loop.execute {
                let client = WebSocketClient(loop: loop, certificateFile: certificateFile)
                guard let socket = try? client.connect(to: url) else {
                    return continuation.resume(returning: ([], "no address"))
                }
                var received: [[UInt8]] = []
                socket.onOpen = { [unowned socket] in
                    for message in messages { socket.send(message) }
                    socket.send(Array("close".utf8))
                }
                socket.onMessage = { received.append($0) }
                socket.onClose = { reason in
                    continuation.resume(returning: (received, reason))
                    _ = client
                }
            }
        }
    }

    private static let messages: [[UInt8]] =
        [0, 1, 125, 126, 65535, 65536].map { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) } }
        + [Array("ping".utf8)] + [[UInt8]](repeating: [UInt8](repeating: 3, count: 60_000), count: 10)

    @Test func theClientTalksToTheOtherImplementationsServer() async throws {
        try await withServer([]) { port in
            let result = try await exchange("ws://127.0.0.1:\(port)/", Self.messages)
            #expect(result.received == Self.messages)
            #expect(result.reason == "the other side closed the connection")
        }
    }

    @Test func theClientTalksTLS() async throws {
        let folder = try TestFolder("websockets")
        let (certificate, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
        try await ChildProcess.output(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        try await withServer([certificate, key]) { port in
            let url = "wss://127.0.0.1:\(port)/"
            let result = try await exchange(url, Self.messages, certificateFile: certificate)
            #expect(result.received == Self.messages)
            #expect(result.reason == "the other side closed the connection")
            // A certificate that nobody vouches for, and a name that it isn't for.
            #expect(try await exchange(url, []).reason.hasPrefix("the secure connection failed"))
            let other = try await exchange("wss://localhost:\(port)/", [], certificateFile: certificate)
            #expect(other.reason.hasPrefix("the secure connection failed"))
        }
    }
}
