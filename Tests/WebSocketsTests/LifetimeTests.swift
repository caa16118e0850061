import CoreModel
import EventLoop
import Foundation
import Testing
import WebSockets

/// Owners that go, callbacks that close, loops that stop.
@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    /// Counts what a socket calls back, on its loop.
    private final class Count {
        var messages = 0
        var closes = 0
        var client: WebSocketClient?
        var socket: WebSocket?
    }

    /// Runs on the loop and waits for it.
    private func onLoop<Value: Sendable>(
        _ loop: EventLoop, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }

    @Test func nothingComesAfterClose() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        let (first, continuation) = AsyncStream.makeStream(of: Void.self)
        loop.execute {
            guard let socket = try? WebSocketClient.shared(by: loop).connect(to: server.url) else { return }
            socket.onOpen = { [unowned socket] in for _ in 0..<5 { socket.send([1]) } }
            socket.onMessage = { [unowned socket] _ in
                socket.close()
                continuation.yield()
            }
            socket.onClose = { _ in continuation.yield() }
        }
        // The server sees the close, and the client says nothing more: the stream ends with the callbacks.
        #expect(await server.end() == "the other side closed the connection")
        continuation.finish()
        #expect(await first.reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test func aClientMayBeReleasedInItsCallbacks() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let loop = try EventLoop.startThread(named: "ws")
        defer { loop.stopAndWait() }
        let reasons: [String] = await withCheckedContinuation { continuation in
            loop.execute {
                let count = Count()
                count.client = WebSocketClient(loop: loop)
                guard let socket = try? count.client?.connect(to: server.url) else { return }
                var reasons: [String] = []
                socket.onOpen = { [unowned socket] in socket.send([1]) }
                socket.onMessage = { _ in
                    count.client = nil
                    continuation.resume(returning: reasons)
                }
                socket.onClose = { reasons.append($0) }
            }
        }
        #expect(reasons == ["the client is gone"])
        #expect(await server.end()?.isEmpty == false)
    }

    @Test func aServerMayBeReleasedInItsCallbacks() async throws {
        // Its own message handler lets the server go, in the middle of several messages.
        let box = Box<EchoServer>()
        let server = try await EchoServer { socket in
            let echo = socket.onMessage
            socket.onMessage = { message in
                echo?(message)
                box.value?.releaseNow()
            }
        }
        box.value = server
        defer {
            box.value = nil
            server.stop()
        }
        let client = try await RawClient.webSocket(server)
        client.send(frame(0x82, [1]) + frame(0x82, [2]))
        _ = await client.readToEnd()
        #expect(await server.end() == "the server is gone")
    }

    @Test func aLoopThatStopsEndsEveryConnectionOnce() async throws {
        let loop = try EventLoop.startThread(named: "ws")
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let holder = Box<WebSocketServer>()
        loop.execute {
            holder.value = try? WebSocketServer(
                loop: loop, at: loopback, onPage: { _, _ in HTTPPage(body: []) },
                onSocket: { socket in
                    socket.onClose = { continuation.yield("server: \($0)") }
                    return true
                })
            let port = holder.value?.localAddress.port ?? 0
            guard let socket = try? WebSocketClient.shared(by: loop).connect(to: "ws://127.0.0.1:\(port)") else {
                return
            }
            socket.onOpen = { continuation.yield("open") }
            socket.onClose = { continuation.yield("client: \($0)") }
        }
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == "open")
        loop.stopAndWait()
        continuation.finish()
        var rest: [String] = []
        while let event = await iterator.next() { rest.append(event) }
        #expect(rest.sorted() == ["client: the loop stopped", "server: the loop stopped"])
        holder.value = nil
    }

    @Test func aTakenPortIsReported() async throws {
        let server = try await EchoServer()
        defer { server.stop() }
        let port = server.port
        let loop = server.loop
        let isRefused = await onLoop(loop) {
            do throws(WebSocketError) {
                _ = try WebSocketServer(
                    loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: port),
                    onPage: { _, _ in HTTPPage(body: []) },
                    onSocket: { _ in true })
                return false
            } catch {
                return error == .cannotListen("127.0.0.1:\(port)")
            }
        }
        #expect(isRefused)
    }

    @Test func noDescriptorIsLeftOrClosedTwice() async throws {
        // In a process of its own, where nobody else opens descriptors.
        await #expect(processExitsWith: .success) {
            func round() async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<4 { group.addTask { try await churn(number) } }
                    try await group.waitForAll()
                }
            }
            // What the system and the libraries open once and keep.
            try await round()
            let before = try openDescriptors()
            for _ in 0..<5 { try await round() }
            let after = try openDescriptors()
            guard after == before else {
                print("\(before) descriptors became \(after)")
                exit(1)
            }
        }
    }
}

/// Holds an object for closures; touched on one loop only.
final class Box<Value>: @unchecked Sendable {
    var value: Value?
}

/// Servers and clients on a loop of their own, some ended in order and some with the loop.
@Sendable private func churn(_ number: Int) async throws {
    let loop = try EventLoop.startThread(named: "ws-\(number)")
    for round in 0..<5 {
        await withCheckedContinuation { continuation in
            loop.execute {
                let server = Box<WebSocketServer>()
                let clients = Box<WebSocketClient>()
                var sockets: [WebSocket] = []
                server.value = try? WebSocketServer(
                    loop: loop, at: loopback, onPage: { _, _ in HTTPPage(body: []) },
                    onSocket: { socket in
                        socket.onMessage = { [unowned socket] in socket.send($0) }
                        return true
                    })
                clients.value = WebSocketClient(loop: loop)
                let port = server.value?.localAddress.port ?? 0
                var left = 5
                for _ in 0..<left {
                    guard let socket = try? clients.value?.connect(to: "ws://127.0.0.1:\(port)/") else { continue }
                    sockets.append(socket)
                    socket.onOpen = { [unowned socket] in socket.send([1, 2, 3]) }
                    socket.onMessage = { [unowned socket] _ in
                        left -= 1
                        if round % 2 == 0 { socket.close() }
                        guard left == 0 else { return }
                        if round < 3 {
                            clients.value = nil
                            server.value = nil
                        }
                        sockets = []
                        continuation.resume()
                    }
                    socket.onClose = { reason in if left > 0 { fatalError(reason) } }
                }
            }
        }
    }
    loop.stopAndWait()
}

private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}
