import CoreModel
import Cryptography
import EventLoop
import Integrity
import Synchronization
import TrackerCore
import TrackerProtocol
import TrackerServer
import WebSockets

let suite = SystemCryptoSuite()
let membershipKey = RoleKey(role: .membership, key: suite.signingKey(seed: key(200)), suite: suite)

func key(_ byte: UInt8) -> Bytes32 { Bytes32(words: (UInt64(byte), 1, 2, 3)) }

/// What can go wrong before a test begins.
enum SetUpError: Error { case server(String), noAnswer }

/// A tracker on a loop of its own.
final class RunningTracker: @unchecked Sendable {  // `server` is touched on the loop only.
    let loop: EventLoop
    private(set) var port: UInt16 = 0
    private var server: TrackerServer?

    init(
        trustedProxies: Set<Bytes16> = [],
        _ change: @Sendable @escaping (inout TrackerConfiguration) -> Void = { _ in }
    ) async throws {
        loop = try EventLoop.startThread(named: "tracker")
        let result: Result<UInt16, SetUpError> = await withCheckedContinuation { continuation in
            loop.execute {
                var configuration = TrackerConfiguration()
                configuration.maximumMemberCount = 500
                change(&configuration)
                do throws(WebSocketError) {
                    let server = try TrackerServer(
                        loop: self.loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0), configuration: configuration,
                        key: membershipKey, trustedProxies: trustedProxies)
                    self.server = server
                    continuation.resume(returning: .success(server.localAddress?.port ?? 0))
                } catch {
                    continuation.resume(returning: .failure(.server("\(error)")))
                }
            }
        }
        port = try result.get()
    }

    var url: String { "ws://127.0.0.1:\(port)/" }

    /// Stops the tracker as a signal does, and waits until it has.
    func stop() async {
        await withCheckedContinuation { continuation in
            loop.execute {
                guard let server = self.server else { return continuation.resume() }
                server.stop {
                    self.server = nil
                    continuation.resume()
                }
            }
        }
    }

    func end() {
        loop.execute {
            self.server?.close()
            self.server = nil
        }
        loop.stop()
    }
}

/// What happens on a connection.
enum Happening: Sendable, Equatable {
    case open
    case message([UInt8])
    case closed(String)
}

/// A viewer's WebSocket, whose events a test awaits one by one.
final class TestSocket: @unchecked Sendable {  // `socket` is touched on the loop only.
    private let loop: EventLoop
    private let happenings: AsyncStream<Happening>
    private var iterator: AsyncStream<Happening>.Iterator
    private var socket: WebSocket?

    init(_ loop: EventLoop, url: String) {
        self.loop = loop
        let (stream, continuation) = AsyncStream.makeStream(of: Happening.self)
        happenings = stream
        iterator = stream.makeAsyncIterator()
        loop.execute {
            do throws(WebSocketError) {
                let socket = try WebSocketClient.shared(by: loop).connect(to: url)
                socket.onOpen = { continuation.yield(.open) }
                socket.onMessage = { continuation.yield(.message($0)) }
                socket.onClose = {
                    continuation.yield(.closed($0))
                    continuation.finish()
                }
                self.socket = socket
            } catch {
                continuation.yield(.closed("\(error)"))
            }
        }
    }

    func send(_ message: [UInt8]) { loop.execute { self.socket?.send(message) } }

    func send(_ message: ViewerMessage) { send(message.encoded()) }

    func close() { loop.execute { self.socket?.close() } }

    /// The next thing that happens; `nil` after the end.
    func next() async -> Happening? { await iterator.next() }

    /// The next message of the tracker; `nil` at the end.
    func message() async throws -> TrackerMessage? {
        while let happening = await next() {
            switch happening {
            case .open: continue
            case .message(let bytes): return try TrackerMessage.decode(bytes[...])
            case .closed: return nil
            }
        }
        return nil
    }

    /// The first front of so many members; what comes before it is passed over.
    func front(ofMembers count: Int) async throws -> Front? {
        while let message = try await message() {
            if case .front(let front) = message, front.members.count == count { return front }
        }
        return nil
    }

    /// The next message that is no front: those come when they are due, between any two answers.
    func answer() async throws -> TrackerMessage? {
        while let message = try await message() {
            if case .front = message { continue }
            return message
        }
        return nil
    }

    /// Waits for the end; says whether it came.
    func waitForEnd() async -> Bool {
        while let happening = await next() {
            if case .closed = happening { return true }
        }
        return false
    }

    /// Joins as the viewer of this number.
    func join(_ number: UInt8, stream: UInt64 = 1) async throws -> Welcome {
        guard case .challenge(let challenge) = try await message() else { throw SetUpError.noAnswer }
        let claimKey = suite.signingKey(seed: key(number))
        let request = JoinRequest(
            stream: StreamID(Bytes16(high: 0, low: stream)), peer: PeerID(key(number)),
            claimKey: claimKey.verificationKey, listenPort: 4000 + UInt16(number))
        send(
            .join(
                request,
                signature: claimKey.sign(ControlProtocol.joinStatement(challenge: challenge.nonce, request: request))))
        guard case .welcome(let welcome) = try await message() else { throw SetUpError.noAnswer }
        return welcome
    }
}

/// A WebSocket that a proxy opens for a viewer.
final class ForwardedSocket: @unchecked Sendable {  // `connection` is touched on the loop only.
    private let chunks: AsyncStream<[UInt8]>
    private var connection: TCPConnection?

    init(_ loop: EventLoop, port: UInt16, for address: String) {
        let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.chunks = chunks
        let request = """
            GET / HTTP/1.1\r
            Host: localhost\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            X-Forwarded-For: \(address)\r
            \r

            """
        loop.execute {
            self.connection = try? TCPConnection(loop: loop, to: NetworkAddress(ipv4: 0x7F00_0001, port: port))
            self.connection?.onOpen = {
                self.connection?.write(Array(request.utf8))
                self.connection?.startReading()
            }
            self.connection?.onRead = { span in
                continuation.yield(
                    span.byteOffsets.map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
            }
            self.connection?.onClose = { _ in
                self.connection = nil
                continuation.finish()
            }
            if self.connection == nil { continuation.finish() }
        }
    }

    /// Whether the tracker sends its challenge, the first frame behind the head, before it closes the connection.
    func isChallenged() async -> Bool {
        var received: [UInt8] = []
        for await chunk in chunks {
            received += chunk
            guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            // The frame's head, and the message.
            if received.count - end.upperBound >= 2 + 37 { return received.starts(with: "HTTP/1.1 101".utf8) }
        }
        return false
    }
}

/// Sends bytes over TCP and gives everything that comes back until the other side closes.
func exchange(_ loop: EventLoop, port: UInt16, _ requests: [[UInt8]]) async -> [UInt8] {
    final class Exchange {
        var connection: TCPConnection?
        var received: [UInt8] = []
    }
    return await withCheckedContinuation { continuation in
        loop.execute {
            let state = Exchange()
            do throws(LoopError) {
                let connection = try TCPConnection(loop: loop, to: NetworkAddress(ipv4: 0x7F00_0001, port: port))
                state.connection = connection
                connection.onOpen = {
                    for request in requests { _ = state.connection?.write(request) }
                    state.connection?.startReading()
                }
                connection.onRead = { span in
                    for index in span.byteOffsets {
                        state.received.append(unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self))
                    }
                }
                connection.onClose = { _ in
                    state.connection = nil
                    continuation.resume(returning: state.received)
                }
            } catch {
                continuation.resume(returning: Array("\(error)".utf8))
            }
        }
    }
}
