import CoreModel
import EventLoop
import Synchronization

/// A small HTTP server on loopback with files in memory, on a loop of its own.
final class TestServer: Sendable {
    /// How a path answers.
    struct File: Sendable {
        var bytes: [UInt8]
        /// Whether ranges are honoured.
        var doesRanges = true
        /// How many times the path answers 503 first.
        var failures = 0
        /// How many times the body breaks off in its middle first.
        var breaks = 0
        /// Whether the path never answers.
        var isSilent = false
    }

    /// The files, seen from any thread.
    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var files: [String: File] = [:]
        var requests: [String] = []
    }

    private let loop: EventLoop
    private let shared = Shared()
    private let holder: Holder
    /// `http://127.0.0.1:PORT`.
    let url: String

    init(_ files: [String: File]) async throws {
        let loop = try EventLoop.startThread(named: "test server")
        self.loop = loop
        let holder = Holder(loop)
        self.holder = holder
        shared.state.withLock { $0.files = files }
        let port = try await holder.listen()
        url = "http://127.0.0.1:\(port)"
        await holder.serve { [shared] request in Self.answer(request, shared) }
    }

    deinit {
        let (loop, holder) = (loop, holder)
        loop.execute { holder.assumeIsolated { $0.close() } }
        loop.stop()
    }

    /// The paths asked for so far, in order.
    var requests: [String] { shared.state.withLock { $0.requests } }

    func change(_ path: String, _ body: (inout File) -> Void) {
        shared.state.withLock { body(&$0.files[path, default: File(bytes: [])]) }
    }

    private static func answer(_ request: String, _ shared: Shared) -> (bytes: [UInt8], ends: Bool) {
        let lines = request.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        let path = words.count > 1 ? String(words[1].prefix { $0 != "?" }) : ""
        return shared.state.withLock { state in
            state.requests.append(path)
            guard var file = state.files[path] else { return (head(404, [], 0), false) }
            guard !file.isSilent else { return ([], false) }
            defer { state.files[path] = file }
            if file.failures > 0 {
                file.failures -= 1
                return (head(503, [], 0), false)
            }
            var body = file.bytes[...]
            var fields: [String] = []
            var status = 200
            if file.doesRanges, let line = lines.first(where: { $0.lowercased().hasPrefix("range: bytes=") }) {
                let ends = line.dropFirst(13).split(separator: "-").compactMap { Int($0) }
                let last = min(ends.count > 1 ? ends[1] : .max, file.bytes.count - 1)
                body = file.bytes[ends[0]...last]
                fields = ["Content-Range: bytes \(ends[0])-\(last)/\(file.bytes.count)"]
                status = 206
            }
            if file.breaks > 0 {
                file.breaks -= 1
                return (head(status, fields, body.count) + body.prefix(body.count / 2), true)
            }
            return (head(status, fields, body.count) + body, false)
        }
    }

    private static func head(_ status: Int, _ fields: [String], _ count: Int) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(count)"] + fields + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// What lives on the loop.
    private actor Holder {
        private let loop: EventLoop
        private var listener: TCPListener?
        private var connections: [ObjectIdentifier: TCPConnection] = [:]
        private var answer: (@Sendable (String) -> (bytes: [UInt8], ends: Bool))?

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func listen() throws -> UInt16 {
            let listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { connection in
                self.accept(connection)
            }
            self.listener = listener
            return listener.localAddress?.port ?? 0
        }

        func serve(_ answer: @escaping @Sendable (String) -> (bytes: [UInt8], ends: Bool)) { self.answer = answer }

        /// Lets go of what holds this through its callbacks.
        func close() {
            listener = nil
            answer = nil
            for connection in connections.values { connection.close() }
            connections = [:]
        }

        private func accept(_ connection: TCPConnection) {
            let id = ObjectIdentifier(connection)
            connections[id] = connection
            var text: [UInt8] = []
            connection.onRead = { bytes in
                for index in 0..<bytes.byteCount {
                    text.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
                }
                while let end = self.endOfHead(text) {
                    let request = String(decoding: text[..<end], as: UTF8.self)
                    text.removeFirst(end)
                    guard let answer = self.answer?(request) else { return }
                    guard let connection = self.connections[id] else { return }
                    _ = connection.write(answer.bytes)
                    guard answer.ends else { continue }
                    if connection.queuedByteCount == 0 { return self.drop(id) }
                    connection.onDrain = { self.drop(id) }
                }
            }
            connection.onClose = { _ in self.connections[id] = nil }  // Not called for a close of ours.
            connection.startReading()
        }

        private func drop(_ id: ObjectIdentifier) { connections.removeValue(forKey: id)?.close() }

        private func endOfHead(_ text: [UInt8]) -> Int? {
            let mark = Array("\r\n\r\n".utf8)
            guard text.count >= 4 else { return nil }
            return (0...text.count - 4).first { text[$0..<$0 + 4].elementsEqual(mark) }.map { $0 + 4 }
        }
    }
}
