public import CoreModel
import Cryptography
public import EventLoop
import Foundation
public import Integrity
public import TrackerCore
import TrackerProtocol
public import WebSockets

/// Serves ``TrackerStore`` over WebSockets, with pages for health and figures. Confined to its loop.
public final class TrackerServer {
    /// Messages that one connection may send in a burst, and that come back each second; more end it.
    private static let burst = 40.0
    private static let rate = 4.0
    /// How often fronts and silent viewers are looked at.
    private static let tick: Duration = .milliseconds(200)
    /// How long the last words of a tracker that stops may take.
    private static let farewell: Duration = .milliseconds(300)
    /// Viewers from one address at once, in IPv6 from one /48; loopback is exempt.
    private static let connectionsPerAddress = 64

    private struct Session {
        let socket: WebSocket
        let address: NetworkAddress
        var allowance: Double
        var allowedAt: MonotonicInstant
    }

    private let loop: EventLoop
    private var store: TrackerStore
    private var server: WebSocketServer?
    private var sessions: [ConnectionKey: Session] = [:]
    private var perAddress: [Bytes16: Int] = [:]
    private var nextConnection: UInt64 = 0
    private var random = SystemRandom()
    private var timer: LoopTimer?
    private var isStopping = false
    private let startedAt: MonotonicInstant

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - trustedProxies: Hosts whose `X-Forwarded-For` says which viewer they connect for.
    ///   - onLog: Takes lines for the operator.
    /// - Throws: ``WebSocketError/cannotListen(_:)``.
    public init(
        loop: EventLoop, at address: NetworkAddress, configuration: TrackerConfiguration, key: RoleKey,
        trustedProxies: Set<Bytes16> = [], onLog: @escaping (String) -> Void = { _ in }
    ) throws(WebSocketError) {
        self.loop = loop
        startedAt = loop.now
        store = TrackerStore(configuration: configuration, key: key, suite: SystemCryptoSuite())
        server = try WebSocketServer(
            loop: loop, at: address, maximumConnectionCount: configuration.maximumMemberCount,
            trustedProxies: trustedProxies, onRefusal: onLog,
            onPage: { [weak self] method, path in self?.page(method, path) ?? Self.text(503, "the tracker stops\n") },
            onSocket: { [weak self] socket in self?.accept(socket) ?? false })
        timer = LoopTimer(loop: loop) { [weak self] in self?.tick() }
        timer?.arm(after: Self.tick)
    }

    /// Where the server listens.
    public var localAddress: NetworkAddress? { server?.localAddress }

    /// Tells every viewer that the tracker stops, ends the connections and stops listening; then calls `onStopped`, at
    /// once when nobody is connected.
    public func stop(_ onStopped: @escaping () -> Void) {
        isStopping = true
        let hasViewers = !sessions.isEmpty
        store.stop()
        drain()
        guard hasViewers else {
            close()
            return onStopped()
        }
        timer = LoopTimer(loop: loop) { [weak self] in
            self?.close()
            onStopped()
        }
        timer?.arm(after: Self.farewell)
    }

    /// Ends every connection without a word and stops listening.
    public func close() {
        timer = nil
        for session in sessions.values { session.socket.onClose = nil }
        server?.close()
        server = nil
        sessions = [:]
    }

    // MARK: - Connections

    private func accept(_ socket: WebSocket) -> Bool {
        guard !isStopping, let address = socket.remoteAddress else { return false }
        guard address.isLoopback || perAddress[address.countedHost, default: 0] < Self.connectionsPerAddress else {
            return false
        }
        perAddress[address.countedHost, default: 0] += 1
        let connection = ConnectionKey(rawValue: nextConnection)
        nextConnection += 1
        sessions[connection] = Session(
            socket: socket, address: address, allowance: Self.burst, allowedAt: loop.now)
        socket.maximumIncomingByteCount = ControlProtocol.maximumMessageByteCount
        socket.onMessage = { [weak self] message in self?.take(message, on: connection) }
        socket.onClose = { [weak self] _ in self?.ended(connection) }
        store.connected(connection, now: loop.now, using: &random)
        drain()
        return true
    }

    private func take(_ message: [UInt8], on connection: ConnectionKey) {
        guard var session = sessions[connection] else { return }
        let now = loop.now
        session.allowance = min(
            Self.burst, session.allowance + session.allowedAt.duration(to: now).inSeconds * Self.rate)
        session.allowedAt = now
        session.allowance -= 1
        sessions[connection] = session
        guard session.allowance >= 0 else {
            session.socket.close()
            return ended(connection)
        }
        store.received(message, on: connection, from: session.address, now: now, time: time, using: &random)
        drain()
    }

    private func ended(_ connection: ConnectionKey) {
        guard let session = sessions.removeValue(forKey: connection) else { return }
        let host = session.address.countedHost
        perAddress[host, default: 1] -= 1
        if perAddress[host] == 0 { perAddress[host] = nil }
        store.disconnected(connection, now: loop.now)
        drain()
    }

    private func tick() {
        store.tick(now: loop.now)
        drain()
        timer?.arm(after: Self.tick)
    }

    private func drain() {
        while let output = store.poll() {
            switch output {
            case .send(let connection, let message): sessions[connection]?.socket.send(message.encoded())
            case .close(let connection):
                sessions[connection]?.socket.close()
                ended(connection)
            }
        }
    }

    private var time: UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    // MARK: - Pages

    private func page(_ method: String, _ path: String) -> HTTPPage {
        // An answer to HEAD goes out without its body.
        guard method == "GET" || method == "HEAD" else { return Self.text(405, "only GET is served here\n") }
        switch path.prefix(while: { $0 != "?" }) {
        case "/healthz": return Self.text(200, "ok\n")
        case "/stats": return stats()
        default: return Self.text(404, "there are /healthz and /stats, and a WebSocket at /\n")
        }
    }

    private func stats() -> HTTPPage {
        struct Document: Encodable {
            var uptimeSeconds: Double
            var statistics: TrackerStatistics
            func encode(to encoder: any Encoder) throws {
                try statistics.encode(to: encoder)
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(uptimeSeconds, forKey: .uptimeSeconds)
            }
            enum Key: String, CodingKey { case uptimeSeconds }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let document = Document(
            uptimeSeconds: startedAt.duration(to: loop.now).inSeconds, statistics: store.statistics)
        guard let data = try? encoder.encode(document) else { return Self.text(500, "no figures\n") }
        return HTTPPage(body: Array(data) + [UInt8(ascii: "\n")])
    }

    private static func text(_ status: Int, _ body: String) -> HTTPPage {
        HTTPPage(status: status, contentType: "text/plain; charset=utf-8", body: Array(body.utf8))
    }
}
