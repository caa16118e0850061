internal import EventLoop
internal import HTTPTransfer

/// A client's way to an open WebSocket: connects, asks for the change of protocol and checks the answer, in a bounded
/// time and with a bounded answer. Confined to the loop.
final class ClientHandshake {
    /// A connection that speaks WebSockets from now on.
    struct Opening {
        let transport: any Transport
        /// What came behind the answer.
        let received: [UInt8]
    }

    struct Failure: Error {
        let reason: String
    }

    /// Called once, on the loop, and not from inside the initialiser.
    var onEnd: ((Result<Opening, Failure>) -> Void)?

    private let connection: RawConnection
    private let key = Handshake.makeKey()
    private let request: [UInt8]
    private var sentByteCount = 0
    private var answer: [UInt8] = []
    private var timer: LoopTimer?

    /// Begins.
    ///
    /// - Parameter timeout: How long all of it may take.
    init(loop: EventLoop, to address: WebSocketAddress, certificateFile: String?, timeout: Duration) {
        request = Array(address.request(key: key).utf8)
        connection = RawConnection(loop: loop, to: address.connectURL, certificateFile: certificateFile)
        connection.onOpen = { [weak self] in self?.connection.watch(.writable) }
        connection.onFailure = { [weak self] error in self?.fail(error.description) }
        connection.onReady = { [weak self] events in
            if events.contains(.writable) { self?.write() }
            if events.contains(.readable) { self?.read() }
        }
        timer = LoopTimer(loop: loop) { [weak self] in self?.fail("the server did not answer in time") }
        timer?.arm(after: timeout)
    }

    /// Ends the handshake without a word.
    func cancel() {
        onEnd = nil
        timer = nil
        connection.close()
    }

    private func fail(_ reason: String) {
        let notify = onEnd
        cancel()
        notify?(.failure(Failure(reason: reason)))
    }

    private func write() {
        while sentByteCount < request.count {
            let progress = unsafe request.withUnsafeBytes { bytes in
                unsafe connection.write(UnsafeRawBufferPointer(rebasing: bytes[sentByteCount...]))
            }
            switch progress {
            case .bytes(let count): sentByteCount += count
            case .wouldBlock: return
            case .end: return fail("no connection")
            case .failed(let text): return fail("the connection broke: \(text)")
            }
        }
        connection.watch(.readable)
    }

    private func read() {
        while onEnd != nil {
            let room = Handshake.maximumHeadByteCount - answer.count
            guard room > 0 else { return fail("the server's answer is too long") }
            let progress = unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
                let progress = unsafe connection.read(into: buffer)
                if case .bytes(let count) = progress { unsafe answer.append(contentsOf: buffer.prefix(count)) }
                return progress
            }
            switch progress {
            case .bytes: takeAnswer()
            case .wouldBlock: return
            case .end: return fail("the server closed the connection")
            case .failed(let text): return fail("the connection broke: \(text)")
            }
        }
    }

    private func takeAnswer() {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        guard let head = AnswerHead(answer[..<end.lowerBound]) else { return fail("the answer is no HTTP") }
        if let fault = head.fault(forKey: key) { return fail(fault) }
        let notify = onEnd
        onEnd = nil
        timer = nil
        connection.onReady = nil
        notify?(.success(Opening(transport: connection, received: Array(answer[end.upperBound...]))))
    }
}
