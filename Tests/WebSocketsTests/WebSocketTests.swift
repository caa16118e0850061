import CoreModel
import EventLoop
import Testing
import WebSockets

@Suite(.timeLimit(.minutes(5))) struct WebSocketTests {
    private final class Holder {
        var server: WebSocketServer?
        var sockets: [WebSocket] = []
        var client: WebSocket?
        var received: [[UInt8]] = []
    }

    /// Sends the messages to a server that sends each back, and gives what came back.
    private func echo(_ messages: [[UInt8]]) async throws -> [[UInt8]] {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stop() }
        return await withCheckedContinuation { continuation in
            loop.execute {
                let holder = Holder()
                holder.server = try? WebSocketServer(
                    loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0),
                    onPage: { _, _ in HTTPPage(body: []) },
                    onSocket: { socket in
                        holder.sockets.append(socket)
                        socket.onMessage = { [unowned socket] in socket.send($0) }
                        return true
                    })
                guard let port = holder.server?.localAddress.port,
                    let client = try? WebSocketClient.shared(by: loop).connect(to: "ws://127.0.0.1:\(port)/")
                else { return continuation.resume(returning: []) }
                holder.client = client
                client.onOpen = { for message in messages { client.send(message) } }
                client.onMessage = { message in
                    holder.received.append(message)
                    guard holder.received.count == messages.count else { return }
                    continuation.resume(returning: holder.received)
                    client.close()
                    holder.client = nil
                    holder.server = nil
                }
                client.onClose = { reason in continuation.resume(returning: [Array(reason.utf8)]) }
            }
        }
    }

    @Test func messagesComeBackWholeAndInOrder() async throws {
        let messages: [[UInt8]] = [
            [1], Array(repeating: 7, count: 126), (0..<60_000).map { UInt8(truncatingIfNeeded: $0) }, [],
            Array(repeating: 9, count: 65_536),
        ].filter { !$0.isEmpty }
        #expect(try await echo(messages) == messages)
    }

    @Test func aPortWhereNobodyListensIsReported() async throws {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stop() }
        let reason: String = await withCheckedContinuation { continuation in
            loop.execute {
                let holder = Holder()
                let listener = try? TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { _ in }
                let port = listener?.localAddress?.port ?? 1
                listener?.close()
                holder.client = try? WebSocketClient.shared(by: loop).connect(to: "ws://127.0.0.1:\(port)/")
                holder.client?.onClose = { reason in
                    continuation.resume(returning: reason)
                    holder.client = nil
                }
            }
        }
        #expect(!reason.isEmpty)
    }

    @Test(arguments: [
        ("wss://tracker.example", true), ("https://192.0.2.1:8/x", true), ("ws://127.0.0.1:7070/", true),
        ("ws://[::1]:7070/", true), ("http://LOCALHOST/", true), ("ws://tracker.example", false),
        ("http://192.0.2.1/", false), ("ws://127.0.0.1@tracker.example/", false), ("ws://localhost.example", false),
        ("ws://10.0.0.1/", false), ("ws://*/", false), ("udp://127.0.0.1:1", false), ("", false),
    ]) func secretsGoOverTLSOrToTheMachineItself(url: String, isConfidential: Bool) {
        #expect(WebSocketClient.isConfidential(url) == isConfidential)
    }

    @Test(arguments: ["", "ftp://h/", "ws://", "ws://h:99999/", "h:80"])
    func otherAddressesAreRefused(url: String) async throws {
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stop() }
        let isRefused: Bool = await withCheckedContinuation { continuation in
            loop.execute {
                do throws(WebSocketError) {
                    _ = try WebSocketClient(loop: loop).connect(to: url)
                    continuation.resume(returning: false)
                } catch {
                    continuation.resume(returning: error == .invalidURL(url))
                }
            }
        }
        #expect(isRefused)
    }
}
