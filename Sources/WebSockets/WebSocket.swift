public import CoreModel
internal import EventLoop

/// One WebSocket connection (RFC 6455), of a client or a server: binary messages, whole.
///
/// Confined to its loop. Its callbacks may close it. It lives until ``onClose``, or until ``close()``.
@safe public final class WebSocket {
    /// The largest message that any connection takes.
    public static let maximumMessageByteCount = 64 * 1024
    /// The most bytes that wait to be sent; more end the connection.
    public static let maximumQueuedByteCount = 1 << 20
    /// How long a connection that was closed may take to send what waits and to hear that the other side closes too.
    public static let closeTimeoutSeconds: Int32 = 5

    private enum State {
        case connecting
        case open
        /// The owner is done with it, or was told of its end: what waits goes out, nothing comes in any more.
        case closing
        case over
    }

    /// Messages and control frames that wait at most; each takes some memory besides its bytes.
    private static let maximumQueuedMessageCount = 16 * 1024
    /// Bytes read in one turn of the loop; others want their turn too.
    private static let byteCountPerTurn = 256 * 1024
    private static let readByteCount = 16 * 1024
    /// Bytes of the other side's that are passed over after its fault, until it closes.
    private static let maximumIgnoredByteCount = 256 * 1024

    /// The largest message that is taken; a larger one ends the connection before it is read in full.
    public var maximumIncomingByteCount = WebSocket.maximumMessageByteCount {
        didSet { frames?.maximumMessageByteCount = maximumIncomingByteCount }
    }

    /// The connection is up; for clients.
    public var onOpen: (() -> Void)?
    /// A message came in.
    public var onMessage: (([UInt8]) -> Void)?
    /// The connection ended, or never came up, once; with the reason in words.
    public var onClose: ((String) -> Void)?
    /// The other side's address; for servers.
    public internal(set) var remoteAddress: NetworkAddress?

    /// Called once when nothing of the connection is left, after ``onClose``.
    var onEnd: (() -> Void)?

    private let loop: EventLoop
    private var state = State.connecting
    private var handshake: ClientHandshake?
    private var transport: (any Transport)?
    private var frames: FrameStream?
    /// Fires when closing takes too long, when the connection is to end outside its owner's call, or when there is more
    /// to read than one turn takes.
    private var timer: LoopTimer?
    /// What the timer does.
    private var timerAction: (() -> Void)?
    /// Why this side ends the connection, until its owner is told.
    private var reason: String?
    private var ignoredByteCount = 0
    private var isWritingFinished = false
    private var hasOtherSideEnded = false
    private var isReading = false
    /// What the transport watches for.
    private var watched: SocketWatcher.Events = []

    /// Makes a connection that ``open(_:role:received:)`` will begin.
    init(loop: EventLoop) { self.loop = loop }

    /// Makes a client's connection that is up once `handshake` has succeeded.
    convenience init(loop: EventLoop, handshake: ClientHandshake) {
        self.init(loop: loop)
        self.handshake = handshake
        handshake.onEnd = { [weak self] result in
            guard let self else { return }
            self.handshake = nil
            switch result {
            case .success(let opening): open(opening.transport, role: .client, received: opening.received)
            case .failure(let failure): end(failure.reason)
            }
        }
    }

    /// Sends a message, in order; dropped when the connection is over. One that lets the queue pass
    /// ``maximumQueuedByteCount`` ends the connection: the other side does not read.
    public func send(_ message: [UInt8]) {
        guard case .open = state, let frames else { return }
        guard frames.queuedByteCount + message.count <= Self.maximumQueuedByteCount,
            frames.queuedMessageCount < Self.maximumQueuedMessageCount
        else { return endSoon("the other side does not read") }
        frames.queue(message)
        updateWatch()
    }

    /// Closes the connection once what was sent is out, or after ``closeTimeoutSeconds``; no callback comes any more.
    public func close() {
        silence()
        switch state {
        case .connecting: end("")
        case .open: startClosing(.normal)
        case .closing, .over: break
        }
    }

    // MARK: - For the module

    /// The connection is up: frames go over `transport`, whose first bytes were read already.
    func open(_ transport: any Transport, role: FrameStream.Role, received: [UInt8]) {
        guard case .connecting = state else { return transport.close() }
        state = .open
        self.transport = transport
        frames = FrameStream(role: role, maximumMessageByteCount: maximumIncomingByteCount) { [unowned self] input in
            take(input)  // This connection keeps the stream while it is fed.
        }
        transport.onReady = { [weak self] events in self?.ready(events) }
        let notify = onOpen
        onOpen = nil
        notify?()
        guard role == .client else { return }
        begin(received)
    }

    /// Begins to read, once the callbacks are set.
    func begin(_ received: [UInt8] = []) {
        guard let frames, transport != nil else { return }
        unsafe received.withUnsafeBytes { unsafe feed($0, frames) }
        read()
        settle()
    }

    /// Ends the connection now, and tells the owner unless it knows.
    func end(_ reason: String) {
        if case .over = state { return }
        state = .over
        timer = nil
        timerAction = nil
        handshake?.cancel()
        handshake = nil
        transport?.close()
        transport = nil
        frames = nil
        tell(reason)
        let notify = onEnd
        onEnd = nil
        notify?()
    }

    /// Ends a connection whose other side it is no use to wait for.
    private func endSoon(_ reason: String) {
        onMessage = nil
        state = .closing
        self.reason = reason
        schedule(after: .zero) { [unowned self] in end(reason) }
    }

    /// Tells the owner, once.
    private func tell(_ reason: String) {
        let notify = onClose
        silence()
        notify?(self.reason ?? reason)
    }

    private func silence() {
        onOpen = nil
        onMessage = nil
        onClose = nil
    }

    /// Sends a close frame behind what waits. With a reason the connection is over for its owner, who is told now.
    private func startClosing(_ code: FrameStream.CloseCode?, _ reason: String? = nil) {
        guard case .open = state else { return }
        state = .closing
        if let code { frames?.queueClose(code) }
        schedule(after: .seconds(Int(Self.closeTimeoutSeconds))) { [unowned self] in end("") }
        updateWatch()
        if let reason { tell(reason) }
    }

    private func schedule(after delay: Duration, _ action: @escaping () -> Void) {
        if timer == nil {
            timer = LoopTimer(loop: loop) { [unowned self] in
                let action = timerAction
                timerAction = nil
                action?()
            }
        }
        timerAction = action
        timer?.arm(after: delay)
    }

    private func updateWatch() {
        guard let transport else { return }
        var events: SocketWatcher.Events = []
        if !hasOtherSideEnded { events.insert(.readable) }
        if frames?.hasOutput ?? false { events.insert(.writable) }
        guard events != watched else { return }
        watched = events
        transport.watch(events)
    }

    private func ready(_ events: SocketWatcher.Events) {
        if events.contains(.readable) { read() }
        if events.contains(.writable) { write() }
        settle()
    }

    // MARK: - In

    private func read() {
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.readByteCount, alignment: 16) { buffer in
            var budget = Self.byteCountPerTurn
            while let transport, let frames, !hasOtherSideEnded {
                guard budget > 0 else { return readOn() }
                switch unsafe transport.read(into: buffer) {
                case .bytes(let count):
                    budget -= count
                    unsafe feed(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)), frames)
                case .wouldBlock: return
                case .end:
                    hasOtherSideEnded = true
                    // One that closes still sends what waits.
                    if case .open = state { end("the other side closed the connection") }
                case .failed(let text): return end("the connection broke: \(text)")
                }
            }
        }
    }

    /// Reads on in the loop's next turn: bytes that TLS holds wake nobody.
    private func readOn() {
        // While it closes, the timer is taken, and the socket's own watch must do.
        guard case .open = state else { return }
        schedule(after: .zero) { [unowned self] in ready(.readable) }
    }

    private func feed(_ bytes: UnsafeRawBufferPointer, _ frames: FrameStream) {
        guard unsafe !bytes.isEmpty else { return }
        guard frames.isReading else {
            ignoredByteCount += bytes.count
            if ignoredByteCount > Self.maximumIgnoredByteCount { end("") }
            return
        }
        unsafe frames.feed(bytes)
        if frames.queuedMessageCount > Self.maximumQueuedMessageCount { return endSoon("the other side does not read") }
        guard !frames.isReading, case .open = state else { return }
        // libwslay has queued the close frame in each case.
        startClosing(nil, frames.isCloseReceived ? "the other side closed the connection" : frames.fault)
    }

    private func take(_ input: FrameStream.Input) {
        guard case .open = state else { return }
        switch input {
        case .message(let message): onMessage?(message)
        case .text:
            frames?.stopReading()
            startClosing(.unsupportedData, "a text message")
        }
    }

    // MARK: - Out

    private func write() {
        while let transport, let frames {
            var failure: String?
            let hasWritten = unsafe frames.drain { bytes in
                switch unsafe transport.write(bytes) {
                case .bytes(let count): return count
                case .wouldBlock, .end: return 0
                case .failed(let text):
                    failure = text
                    return 0
                }
            }
            if let failure { return end("the connection broke: \(failure)") }
            guard hasWritten else { break }
        }
    }

    /// Takes the next step of closing, if it is time, and watches for what is missing.
    private func settle() {
        guard case .closing = state, let frames, let transport else { return updateWatch() }
        guard frames.isCloseSent else {
            // Without anything that waits, libwslay refuses to send.
            return frames.hasOutput ? updateWatch() : end("")
        }
        guard !frames.isCloseReceived, !hasOtherSideEnded else { return end("") }
        if !isWritingFinished {
            isWritingFinished = true
            transport.finishWriting()
        }
        updateWatch()
    }
}
