import CoreModel
import EventLoop

/// An HTTP server that answers each connection's requests with the bytes a test wrote down. Confined to the loop.
final class ScriptedServer {
    enum Step {
        case send(String)
        case wait(Duration)
        case close
    }

    private(set) var requests: [String] = []
    private var answers: [[Step]]
    private var listener: TCPListener?
    private var connections: [TCPConnection] = []
    private var timers: [LoopTimer] = []
    private let loop: EventLoop

    /// Answers the first request with the first list of steps and so on; the last one again and again.
    init(loop: EventLoop, answers: [[Step]]) throws {
        self.loop = loop
        self.answers = answers
        listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { [unowned self] in
            accept($0)
        }
    }

    var url: String { "http://127.0.0.1:\(listener?.localAddress?.port ?? 0)/file" }

    private func accept(_ connection: TCPConnection) {
        connections.append(connection)
        var text = ""
        connection.onRead = { [unowned self, unowned connection] bytes in
            for index in 0..<bytes.byteCount {
                text.unicodeScalars.append(
                    Unicode.Scalar(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)))
            }
            while let end = text.range(of: "\r\n\r\n") {
                requests.append(String(text[..<end.lowerBound]))
                text = String(text[end.upperBound...])
                perform(answers.count > 1 ? answers.removeFirst() : answers[0], on: connection)
            }
        }
        connection.startReading()
    }

    private func perform(_ steps: [Step], on connection: TCPConnection) {
        guard let first = steps.first else { return }
        let rest = Array(steps.dropFirst())
        switch first {
        case .send(let text):
            connection.write(Array(text.utf8))
            perform(rest, on: connection)
        case .wait(let span):
            let timer = LoopTimer(loop: loop) { [unowned self, unowned connection] in perform(rest, on: connection) }
            timer.arm(after: span)
            timers.append(timer)
        case .close:
            connection.close()
        }
    }
}

extension String {
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        let scalars = unicodeScalars
        let wanted = Array(needle.unicodeScalars)
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let candidate = scalars[index...].prefix(wanted.count)
            if Array(candidate) == wanted { return index..<candidate.endIndex }
            index = scalars.index(after: index)
        }
        return nil
    }
}
