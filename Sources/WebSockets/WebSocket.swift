internal import CWebsockets
internal import CWebsocketsShims
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
    /// How long a connection that was closed may take to send what waits.
    public static let closeTimeoutSeconds: Int32 = 5

    /// The largest message that is taken; a larger one ends the connection before it is read in full.
    public var maximumIncomingByteCount = WebSocket.maximumMessageByteCount

    /// The connection is up; for clients.
    public var onOpen: (() -> Void)?
    /// A message came in.
    public var onMessage: (([UInt8]) -> Void)?
    /// The connection ended, or never came up, once; with the reason in words.
    public var onClose: ((String) -> Void)?
    /// The other side's address; for servers.
    public internal(set) var remoteAddress: NetworkAddress?

    /// The library's connection; `nil` before it is made and after its end.
    var handle: OpaquePointer?
    private var queue: [[UInt8]] = []
    private var queuedByteCount = 0
    private var incoming: [UInt8] = []
    private var isOpen = false
    private var isClosing = false
    /// Why this side ended the connection.
    private var reason: String?
    private(set) var isOver = false

    init() {}

    /// Sends a message, in order; dropped when the connection is over. One that lets the queue pass
    /// ``maximumQueuedByteCount`` ends the connection: the other side does not read.
    public func send(_ message: [UInt8]) {
        guard let handle = unsafe handle, !isClosing else { return }
        queuedByteCount += message.count
        guard queuedByteCount <= Self.maximumQueuedByteCount else {
            // What waits will never be out: no waiting for it.
            isClosing = true
            onMessage = nil
            queue = []
            reason = "the other side does not read"
            unsafe lws_set_timeout(handle, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
            return
        }
        queue.append(message)
        unsafe _ = lws_callback_on_writable(handle)
    }

    /// Closes the connection once what was sent is out, or after ``closeTimeoutSeconds``; no callback comes any more.
    public func close() {
        onOpen = nil
        onMessage = nil
        onClose = nil
        isClosing = true
        guard let handle = unsafe handle else { return }
        unsafe lws_set_timeout(handle, PENDING_TIMEOUT_USER_OK, Self.closeTimeoutSeconds)
        if isOpen { unsafe _ = lws_callback_on_writable(handle) }
    }

    // MARK: - From the library

    /// Sends what waits; false ends the connection.
    func write() -> Bool {
        guard let handle = unsafe handle else { return false }
        guard !queue.isEmpty else { return !isClosing }
        let message = queue.removeFirst()
        queuedByteCount -= message.count
        // The library writes its header in front of the payload.
        let pre = Int(cwebsockets_pre())
        var buffer = [UInt8](repeating: 0, count: pre)
        buffer.append(contentsOf: message)
        let written = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return Int32(-1) }
            return unsafe lws_write(handle, base + pre, message.count, LWS_WRITE_BINARY)
        }
        guard written >= Int32(message.count) else { return false }
        if !queue.isEmpty || isClosing { unsafe _ = lws_callback_on_writable(handle) }
        return true
    }

    /// Refuses a message that is not binary.
    func refuseText() {
        reason = "a text message"
    }

    /// Takes a part of a message; false ends the connection.
    func take(_ bytes: UnsafeRawBufferPointer, isFinal: Bool) -> Bool {
        guard !isClosing else { return true }
        guard incoming.count + bytes.count <= maximumIncomingByteCount else {
            reason = "a message is too long"
            return false
        }
        unsafe incoming.append(contentsOf: bytes)
        guard isFinal else { return true }
        let message = incoming
        incoming = []
        onMessage?(message)
        return true
    }

    func open(_ handle: OpaquePointer) {
        unsafe self.handle = handle
        isOpen = true
        // Closed before it was up: the close goes out now.
        if isClosing { unsafe _ = lws_callback_on_writable(handle) }
        onOpen?()
        onOpen = nil
    }

    func end(_ reason: String) {
        guard !isOver else { return }
        isOver = true
        unsafe handle = nil
        queue = []
        let notify = onClose
        onOpen = nil
        onMessage = nil
        onClose = nil
        notify?(self.reason ?? reason)
    }
}
