import CoreModel
import EventLoop

/// A TCP connection whose bytes a test writes and reads by hand.
final class RawClient: @unchecked Sendable {  // `connection` is touched on the loop only, the rest by the one test.
    private let loop: EventLoop
    private var connection: TCPConnection?
    private var chunks: AsyncStream<[UInt8]>.Iterator
    private var received: [UInt8] = []

    init(_ loop: EventLoop, port: UInt16) {
        self.loop = loop
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        chunks = stream.makeAsyncIterator()
        loop.execute {
            self.connection = try? TCPConnection(loop: loop, to: NetworkAddress(ipv4: 0x7F00_0001, port: port))
            self.connection?.onOpen = { self.connection?.startReading() }
            self.connection?.onRead = { bytes in
                continuation.yield(
                    (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
            }
            self.connection?.onClose = { _ in
                self.connection = nil
                continuation.finish()
            }
            if self.connection == nil { continuation.finish() }
        }
    }

    /// A connection after its handshake.
    static func webSocket(_ server: EchoServer) async throws -> RawClient {
        let client = RawClient(server.loop, port: server.port)
        client.send(handshake())
        guard let head = await client.readHead(), head.hasPrefix("http/1.1 101") else { throw SetUpError.noAnswer }
        return client
    }

    /// A good handshake, with fields in place of the usual ones; `nil` leaves one out.
    static func handshake(_ changes: [String: String?] = [:], line: String = "GET / HTTP/1.1") -> [UInt8] {
        var fields: [String: String?] = [
            "Host": "localhost", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        fields.merge(changes) { $1 }
        let text = fields.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }.sorted().joined()
        return Array("\(line)\r\n\(text)\r\n".utf8)
    }

    /// Writes as soon as the connection is up.
    func send(_ bytes: [UInt8]) {
        loop.execute { self.write(bytes) }
    }

    private func write(_ bytes: [UInt8]) {
        guard let connection else { return }
        if connection.isOpen {
            connection.write(bytes)
        } else {
            let before = connection.onOpen
            connection.onOpen = {
                before?()
                self.connection?.write(bytes)
            }
        }
    }

    func pauseReading() { loop.execute { self.connection?.pauseReading() } }

    func resumeReading() { loop.execute { self.connection?.resumeReading() } }

    func close() {
        loop.execute {
            self.connection?.close()
            self.connection = nil
        }
    }

    /// The next so many bytes; fewer at the end.
    func read(_ count: Int) async -> [UInt8] {
        while received.count < count, let chunk = await chunks.next() { received += chunk }
        defer { received.removeFirst(min(count, received.count)) }
        return Array(received.prefix(count))
    }

    /// Everything until the other side closes.
    func readToEnd() async -> [UInt8] {
        while let chunk = await chunks.next() { received += chunk }
        defer { received = [] }
        return received
    }

    /// An HTTP head in lower case; `nil` when none comes.
    func readHead() async -> String? {
        while true {
            if let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                defer { received.removeFirst(end.upperBound) }
                return String(decoding: received[..<end.lowerBound], as: UTF8.self).lowercased()
            }
            guard let chunk = await chunks.next() else { return nil }
            received += chunk
        }
    }

    /// The next frame: its first byte and its payload; `nil` at the end.
    func readFrame() async -> (head: UInt8, payload: [UInt8])? {
        let head = await read(2)
        guard head.count == 2 else { return nil }
        var length = Int(head[1])
        if length >= 126 {
            length = await read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        let payload = await read(length)
        return payload.count == length ? (head[0], payload) : nil
    }
}

/// A client's frame, with a mask that is not zero.
func frame(_ head: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return frameHead(head, payload.count) + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
}

/// The first bytes of a client's frame, up to its mask.
func frameHead(_ head: UInt8, _ count: Int) -> [UInt8] {
    if count < 126 { return [head, 0x80 | UInt8(count)] }
    if count < 65536 { return [head, 0xFE, UInt8(count >> 8), UInt8(count & 0xFF)] }
    return [head, 0xFF] + stride(from: 56, through: 0, by: -8).map { UInt8(count >> $0 & 0xFF) }
}
