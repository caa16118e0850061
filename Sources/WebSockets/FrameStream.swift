internal import CWslay
internal import Cryptography

/// The frames of one connection (RFC 6455, sections 5 to 7) by libwslay, without input and output of its own: it is fed
/// bytes and drained of bytes. Pings are answered and closes too; what breaks the protocol queues a close frame and ends
/// the reading.
@safe final class FrameStream {
    enum Role { case client, server }

    /// What comes in, besides control frames.
    enum Input {
        /// A whole binary message.
        case message([UInt8])
        /// A text message begins.
        case text
    }

    /// Why one side ends a connection (RFC 6455, section 7.4.1).
    enum CloseCode {
        case normal, unsupportedData

        fileprivate var rawValue: UInt16 {
            switch self {
            case .normal: UInt16(WSLAY_CODE_NORMAL_CLOSURE.rawValue)
            case .unsupportedData: UInt16(WSLAY_CODE_UNSUPPORTED_DATA.rawValue)
            }
        }
    }

    /// Bytes that are made ready for the connection at once.
    private static let outputCapacity = 16 * 1024

    /// Takes what comes in, from inside ``feed(_:)``; it may use the stream but not release it.
    private let onInput: (Input) -> Void
    private var context: wslay_event_context_ptr?
    /// What ``feed(_:)`` was given and the library has not taken yet.
    private var input = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    /// The close frame to send when no message waits: libwslay would send it before them, as it does control frames.
    private var waitingClose: CloseCode?
    /// Memory for bytes that are ready to go out, while there are any.
    private var memory: UnsafeMutableRawPointer?
    private var outputStart = 0
    private var outputEnd = 0

    /// The longest message that is taken; one that declares more is refused by its head, in fragments too.
    var maximumMessageByteCount: Int {
        didSet { unsafe wslay_event_config_set_max_recv_msg_length(context, UInt64(max(0, maximumMessageByteCount))) }
    }

    init(role: Role, maximumMessageByteCount: Int, onInput: @escaping (Input) -> Void) {
        self.onInput = onInput
        self.maximumMessageByteCount = maximumMessageByteCount
        var callbacks = wslay_event_callbacks()
        unsafe callbacks.recv_callback = { context, buffer, count, _, user in
            guard let stream = unsafe FrameStream.of(user), let buffer = unsafe buffer else { return -1 }
            let taken = unsafe stream.take(UnsafeMutableRawBufferPointer(start: buffer, count: count))
            if taken == 0 { unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue) }
            return taken > 0 ? taken : -1
        }
        unsafe callbacks.send_callback = { context, bytes, count, _, user in
            guard let stream = unsafe FrameStream.of(user) else { return -1 }
            let put = unsafe stream.put(UnsafeRawBufferPointer(start: bytes, count: count))
            if put == 0 { unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue) }
            return put > 0 ? put : -1
        }
        // Masks must not be foreseeable (RFC 6455, section 10.3).
        unsafe callbacks.genmask_callback = { _, buffer, count, _ in
            unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: SystemRandom.bytes(count))
            return 0
        }
        unsafe callbacks.on_frame_recv_start_callback = { _, frame, user in
            guard let frame = unsafe frame, unsafe UInt32(frame.pointee.opcode) == WSLAY_TEXT_FRAME.rawValue else {
                return
            }
            unsafe FrameStream.of(user)?.onInput(.text)
        }
        unsafe callbacks.on_msg_recv_callback = { _, message, user in
            guard let message = unsafe message,
                unsafe UInt32(message.pointee.opcode) == WSLAY_BINARY_FRAME.rawValue
            else { return }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: message.pointee.msg, count: message.pointee.msg_length)
            unsafe FrameStream.of(user)?.onInput(.message([UInt8](bytes)))
        }
        // Unretained: the library calls back from inside its calls only, which this object makes.
        let user = unsafe Unmanaged.passUnretained(self).toOpaque()
        let code =
            switch role {
            case .client: unsafe wslay_event_context_client_init(&context, &callbacks, user)
            case .server: unsafe wslay_event_context_server_init(&context, &callbacks, user)
            }
        precondition(code == 0, "libwslay has no memory")
        unsafe wslay_event_config_set_max_recv_msg_length(context, UInt64(max(0, maximumMessageByteCount)))
    }

    deinit {
        unsafe wslay_event_context_free(context)
        unsafe memory?.deallocate()
    }

    // MARK: - In

    /// Takes bytes of the other side's; once ``isReading`` is false they are dropped.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        unsafe input = bytes
        // A failure ends the reading too.
        unsafe _ = wslay_event_recv(context)
        unsafe input = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// What was wrong with what was fed, once ``isReading`` is false and no close was received.
    var fault: String {
        // The code is known when its frame goes out, which is before all others.
        unsafe _ = wslay_event_send(context)
        let isTooLong = unsafe UInt32(wslay_event_get_status_code_sent(context)) == WSLAY_CODE_MESSAGE_TOO_BIG.rawValue
        return isTooLong ? "a message is too long" : "a frame breaks the protocol"
    }

    /// Takes no more frames.
    func stopReading() { unsafe wslay_event_shutdown_read(context) }

    /// Whether frames are taken: until a close frame, a fault of the other side's or ``stopReading()``.
    var isReading: Bool { unsafe wslay_event_get_read_enabled(context) != 0 }

    /// Whether the other side has closed.
    var isCloseReceived: Bool { unsafe wslay_event_get_close_received(context) != 0 }

    // MARK: - Out

    /// Queues a message; dropped behind a close frame.
    func queue(_ message: [UInt8]) {
        unsafe message.withUnsafeBufferPointer { bytes in
            var message = unsafe wslay_event_msg(
                opcode: UInt8(WSLAY_BINARY_FRAME.rawValue), msg: bytes.baseAddress, msg_length: bytes.count)
            unsafe _ = wslay_event_queue_msg(context, &message)
        }
    }

    /// Queues a close frame, behind the messages; without effect when one is queued.
    func queueClose(_ code: CloseCode) { waitingClose = code }

    /// Bytes of messages that wait.
    var queuedByteCount: Int { unsafe wslay_event_get_queued_msg_length(context) + outputEnd - outputStart }

    /// Messages and control frames that wait.
    var queuedMessageCount: Int { unsafe wslay_event_get_queued_msg_count(context) }

    /// Whether something waits.
    var hasOutput: Bool {
        if outputEnd > outputStart { return true }
        guard unsafe wslay_event_get_write_enabled(context) != 0 else { return false }
        return unsafe waitingClose != nil || wslay_event_want_write(context) != 0
    }

    /// Whether this side has closed, and that is on its way.
    var isCloseSent: Bool { unsafe wslay_event_get_close_sent(context) != 0 && outputEnd == outputStart }

    /// Hands bytes that go out next to `write`, which returns how many went, zero for none. They stay where they are
    /// until they went.
    ///
    /// - Returns: false when nothing waits, or nothing went.
    func drain(_ write: (UnsafeRawBufferPointer) -> Int) -> Bool {
        if outputEnd < Self.outputCapacity {
            // A failure shows as an empty output.
            unsafe _ = wslay_event_send(context)
            if let code = waitingClose, queuedMessageCount == 0 {
                waitingClose = nil
                unsafe _ = wslay_event_queue_close(context, code.rawValue, nil, 0)
                unsafe _ = wslay_event_send(context)
            }
        }
        guard let memory = unsafe memory, outputEnd > outputStart else { return false }
        let count = unsafe write(UnsafeRawBufferPointer(start: memory + outputStart, count: outputEnd - outputStart))
        outputStart += count
        if outputStart == outputEnd {
            unsafe memory.deallocate()
            unsafe self.memory = nil
            (outputStart, outputEnd) = (0, 0)
        }
        return count > 0
    }

    // MARK: - The library's callbacks

    private static func of(_ user: UnsafeMutableRawPointer?) -> FrameStream? {
        unsafe user.map { unsafe Unmanaged<FrameStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private func take(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(buffer.count, input.count)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: input.prefix(count)))
        unsafe input = UnsafeRawBufferPointer(rebasing: input.dropFirst(count))
        return count
    }

    private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
        if unsafe memory == nil { unsafe memory = .allocate(byteCount: Self.outputCapacity, alignment: 16) }
        guard let memory = unsafe memory else { return 0 }
        let count = min(bytes.count, Self.outputCapacity - outputEnd)
        guard count > 0, let base = bytes.baseAddress else { return 0 }
        unsafe (memory + outputEnd).copyMemory(from: base, byteCount: count)
        outputEnd += count
        return count
    }
}
