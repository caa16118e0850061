import CoreModel
import EventLoop

/// An HTTP server with files in memory, on the loop of the test. Confined to the loop.
final class TestOrigin {
    /// How a path answers.
    struct File {
        var bytes: [UInt8]
        /// Answered in place of the bytes.
        var status: Int?
        /// The status of an answer with ``fields``.
        var fieldStatus = 200
        /// Sent as they are in place of an answer's own head fields.
        var fields: [String]?
        /// How many times the body breaks off in its middle.
        var breaks = 0
        /// Whether ranges are honoured.
        var doesRanges = true
    }

    var files: [String: File] = [:]
    /// The paths asked for, in order.
    private(set) var requests: [String] = []
    private var listener: TCPListener?
    private var connections: [ObjectIdentifier: TCPConnection] = [:]

    init(loop: EventLoop) throws {
        listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { [weak self] in
            self?.accept($0)
        }
    }

    /// Its address, without a slash at the end.
    var url: String { "http://127.0.0.1:\(listener?.localAddress?.port ?? 0)" }

    func close() {
        listener = nil
        for connection in connections.values { connection.close() }
        connections = [:]
    }

    private func accept(_ connection: TCPConnection) {
        let id = ObjectIdentifier(connection)
        connections[id] = connection
        var text: [UInt8] = []
        connection.onRead = { [weak self] bytes in
            for index in bytes.byteOffsets { text.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
            while let self, let end = Self.endOfHead(text) {
                let request = String(decoding: text[..<end], as: UTF8.self)
                text.removeFirst(end)
                guard let connection = connections[id] else { return }
                let (answer, ends) = answer(to: request)
                _ = connection.write(answer)
                guard ends else { continue }
                if connection.queuedByteCount == 0 { return drop(id) }
                connection.onDrain = { [weak self] in self?.drop(id) }
            }
        }
        connection.onClose = { [weak self] _ in self?.connections[id] = nil }
        connection.startReading()
    }

    private func drop(_ id: ObjectIdentifier) { connections.removeValue(forKey: id)?.close() }

    private func answer(to request: String) -> (bytes: [UInt8], ends: Bool) {
        let lines = request.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        let path = words.count > 1 ? String(words[1].prefix { $0 != "?" }) : ""
        requests.append(path)
        guard let file = files[path] else { return (Self.head(404, [], 0), false) }
        if let status = file.status { return (Self.head(status, [], 0), false) }
        var body = file.bytes[...]
        var fields: [String] = []
        var status = 200
        if file.doesRanges, let line = lines.first(where: { $0.lowercased().hasPrefix("range: bytes=") }) {
            let ends = line.dropFirst(13).split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, first < file.bytes.count else { return (Self.head(416, [], 0), false) }
            let last = min(ends.count > 1 ? ends[1] : .max, file.bytes.count - 1)
            body = file.bytes[first...last]
            fields = ["Content-Range: bytes \(first)-\(last)/\(file.bytes.count)"]
            status = 206
        }
        if let own = file.fields {
            let lines = ["HTTP/1.1 \(file.fieldStatus) X"] + own + ["", ""]
            return (Array(lines.joined(separator: "\r\n").utf8) + body, true)
        }
        let head = Self.head(status, fields, body.count)
        guard file.breaks > 0 else { return (head + body, false) }
        files[path]?.breaks -= 1
        return (head + body.prefix(body.count / 2), true)
    }

    private static func head(_ status: Int, _ fields: [String], _ count: Int) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(count)"] + fields + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    private static func endOfHead(_ text: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard text.count >= mark.count else { return nil }
        return (0...text.count - mark.count).first { text[$0..<$0 + 4].elementsEqual(mark) }.map { $0 + 4 }
    }
}
