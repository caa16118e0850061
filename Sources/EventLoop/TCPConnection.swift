internal import CLibuv
public import CoreModel
internal import Glibc

/// A TCP connection on a loop: reads are lent, writes are queued within a bound, TCP_NODELAY is on.
///
/// Confined to the loop. Callbacks come on the loop and may close or release the connection. Releasing the last
/// reference closes it without a call to ``onClose``.
@safe public final class TCPConnection {
    private enum State { case connecting, open, closed }

    /// The most bytes that ``write(_:)`` queues.
    public static let maximumQueuedByteCount = 16 << 20

    /// The connection is up; for outgoing ones.
    public var onOpen: (() -> Void)?
    /// Bytes came in; the span is valid during the call only.
    public var onRead: ((RawSpan) -> Void)?
    /// Everything written has been handed to the system.
    public var onDrain: (() -> Void)?
    /// The connection ended, once: ``LoopError/endOfStream`` when the peer did, another error otherwise.
    public var onClose: ((LoopError) -> Void)?

    /// Bytes written and not yet handed to the system.
    public private(set) var queuedByteCount = 0
    /// Bytes read since the start.
    public private(set) var receivedByteCount = 0
    /// Bytes handed to the system since the start.
    public private(set) var sentByteCount = 0

    private let loop: EventLoop
    private let handle: LoopHandle
    private var state: State
    private var isReading = false
    private var isPaused = false

    /// Starts a connection to `address`, from `source` when given.
    ///
    /// - Throws: ``LoopError`` when it can't even begin; later failures come to ``onClose``.
    public init(loop: EventLoop, to address: NetworkAddress, from source: NetworkAddress? = nil) throws(LoopError) {
        self.loop = loop
        state = .connecting
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_tcp_t>.size) { loop, tcp in
            unsafe uv_tcp_init(loop, tcp.assumingMemoryBound(to: uv_tcp_t.self))
        }
        handle.owner = self
        handle.onLoopStop = { [weak self] in self?.end(.cancelled) }
        guard let tcp = unsafe handle.tcp else { throw .cancelled }
        if let source {
            let code = unsafe source.withSocketAddress { unsafe uv_tcp_bind(tcp, $0, 0) }
            if code < 0 {
                handle.close()
                throw LoopError(rawValue: code)
            }
        }
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_connect_t())
        let code = unsafe address.withSocketAddress {
            unsafe uv_tcp_connect(request, tcp, $0) { request, status in
                guard let request = unsafe request else { return }
                let handle = unsafe request.pointee.handle
                unsafe request.deallocate()
                // After `close` the handle's memory still stands until its own callback, but its owner is done.
                guard status != UV_ECANCELED.rawValue, let handle = unsafe handle else { return }
                unsafe LoopHandle.owner(of: UnsafeMutableRawPointer(handle), as: TCPConnection.self)?.didConnect(status)
            }
        }
        guard code == 0 else {
            unsafe request.deallocate()
            handle.close()
            throw LoopError(rawValue: code)
        }
        unsafe _ = uv_tcp_nodelay(tcp, 1)
    }

    /// Takes a connection that a listener accepted.
    init(accepting listener: UnsafeMutablePointer<uv_stream_t>, loop: EventLoop) throws(LoopError) {
        self.loop = loop
        state = .open
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_tcp_t>.size) { loop, tcp in
            unsafe uv_tcp_init(loop, tcp.assumingMemoryBound(to: uv_tcp_t.self))
        }
        handle.owner = self
        handle.onLoopStop = { [weak self] in self?.end(.cancelled) }
        guard let stream = unsafe handle.stream, let tcp = unsafe handle.tcp else { throw .cancelled }
        let code = unsafe uv_accept(listener, stream)
        guard code == 0 else {
            handle.close()
            throw LoopError(rawValue: code)
        }
        unsafe _ = uv_tcp_nodelay(tcp, 1)
    }

    deinit { handle.closeFromAnywhere() }

    /// Whether the connection is up.
    public var isOpen: Bool { if case .open = state { true } else { false } }

    /// The address of the other side; `nil` when not connected.
    public var remoteAddress: NetworkAddress? { unsafe address { unsafe uv_tcp_getpeername($0, $1, $2) } }

    /// The address of this side; `nil` when not connected.
    public var localAddress: NetworkAddress? { unsafe address { unsafe uv_tcp_getsockname($0, $1, $2) } }

    /// Begins to read; call it once the callbacks are set.
    public func startReading() {
        loop.checkIsolated()
        guard case .open = state, !isReading, !isPaused, let stream = unsafe handle.stream else { return }
        isReading = true
        let code = unsafe uv_read_start(
            stream,
            { handle, _, buffer in
                guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
                guard
                    let connection = unsafe LoopHandle.owner(
                        of: UnsafeMutableRawPointer(handle), as: TCPConnection.self)
                else { return }
                // libuv reads into the loop's one buffer and calls back before anybody else does.
                unsafe buffer.pointee = uv_buf_init(
                    connection.loop.readBuffer, UInt32(EventLoop.readBufferByteCount))
            },
            { stream, count, buffer in
                guard let stream = unsafe stream, count != 0 else { return }
                guard
                    let connection = unsafe LoopHandle.owner(
                        of: UnsafeMutableRawPointer(stream), as: TCPConnection.self)
                else { return }
                if count < 0 { return connection.end(LoopError(rawValue: Int32(count))) }
                guard let memory = unsafe buffer?.pointee.base else { return }
                connection.receivedByteCount += count
                unsafe connection.onRead?(UnsafeRawBufferPointer(start: memory, count: count).bytes)
            })
        if code < 0 { end(LoopError(rawValue: code)) }
    }

    /// Stops reading; the peer is held back by TCP's own window.
    public func pauseReading() {
        loop.checkIsolated()
        isPaused = true
        guard isReading, let stream = unsafe handle.stream else { return }
        isReading = false
        unsafe _ = uv_read_stop(stream)
    }

    /// Reads on after ``pauseReading()``.
    public func resumeReading() {
        isPaused = false
        startReading()
    }

    /// Sends bytes, in order: at once as far as the system takes them, the rest as soon as it does.
    ///
    /// - Returns: false when the connection is not open, or its queue would pass ``maximumQueuedByteCount``; nothing is
    ///   sent then.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        loop.checkIsolated()
        guard case .open = state, let stream = unsafe handle.stream else { return false }
        guard queuedByteCount + bytes.count <= Self.maximumQueuedByteCount else { return false }
        guard !bytes.isEmpty else { return true }
        var sent = 0
        if queuedByteCount == 0 {
            let code = unsafe bytes.withUnsafeBytes { bytes in
                var buffer = unsafe Self.buffer(bytes)
                return unsafe uv_try_write(stream, &buffer, 1)
            }
            if code > 0 { sent = Int(code) }
            // Other failures come again from the queued write, to its callback.
            sentByteCount += sent
        }
        if sent < bytes.count { unsafe queue(bytes, from: sent, on: stream) }
        return true
    }

    /// Asks the system to hold at most this much unsent data before it says that it is full (TCP_NOTSENT_LOWAT).
    public func setNotSentLowWater(_ byteCount: Int) { setOption(Int32(IPPROTO_TCP), 25, byteCount) }

    /// Bytes that the system has taken and the peer has not acknowledged (SIOCOUTQ); 0 when unknown.
    public var kernelQueuedByteCount: Int {
        guard let descriptor else { return 0 }
        var count: Int32 = 0
        guard unsafe ioctl(descriptor, UInt(0x5411), &count) == 0 else { return 0 }
        return Int(count)
    }

    /// The system's smoothed round trip of this connection (TCP_INFO); `nil` before the first sample.
    public var roundTrip: Duration? {
        guard let descriptor else { return nil }
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        return info.tcpi_rtt == 0 ? nil : .microseconds(Int64(info.tcpi_rtt))
    }

    /// Closes the connection now; unsent bytes are dropped and no callback comes any more.
    public func close() {
        loop.checkIsolated()
        onClose = nil
        end(.cancelled)
    }

    // MARK: - Helpers

    private var descriptor: Int32? {
        guard let base = unsafe handle.base else { return nil }
        var descriptor: Int32 = -1
        return unsafe uv_fileno(base, &descriptor) == 0 ? descriptor : nil
    }

    private func setOption(_ level: Int32, _ name: Int32, _ value: Int) {
        guard let descriptor else { return }
        var value = Int32(clamping: value)
        // A system that doesn't know the option works without it.
        unsafe _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func didConnect(_ status: Int32) {
        guard case .connecting = state else { return }
        guard status == 0 else { return end(LoopError(rawValue: status)) }
        state = .open
        onOpen?()
    }

    private func end(_ error: LoopError) {
        if case .closed = state { return }
        state = .closed
        handle.close()
        let notify = onClose
        onOpen = nil
        onRead = nil
        onDrain = nil
        onClose = nil
        notify?(error)
    }

    private func address(
        _ get: (UnsafePointer<uv_tcp_t>, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32
    ) -> NetworkAddress? {
        guard let tcp = unsafe handle.tcp else { return nil }
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe get(tcp, $0, &length) }
        }
        return code == 0 ? NetworkAddress(storage) : nil
    }

    static func buffer(_ bytes: UnsafeRawBufferPointer) -> uv_buf_t {
        // libuv never writes to it.
        unsafe uv_buf_init(
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
            UInt32(bytes.count))
    }

    /// A write under way: its bytes, kept until libuv calls back.
    @safe private final class PendingWrite {
        let bytes: UnsafeMutableRawBufferPointer
        weak var connection: TCPConnection?

        init(_ bytes: ArraySlice<UInt8>, connection: TCPConnection) {
            unsafe self.bytes = .allocate(byteCount: bytes.count, alignment: 1)
            unsafe self.bytes.copyBytes(from: bytes)
            self.connection = connection
        }

        deinit { unsafe bytes.deallocate() }
    }

    private func queue(_ bytes: [UInt8], from start: Int, on stream: UnsafeMutablePointer<uv_stream_t>) {
        let pending = PendingWrite(bytes[start...], connection: self)
        queuedByteCount += bytes.count - start
        let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_write_t())
        // Balanced in the callback, which comes also when the handle is closed.
        unsafe request.pointee.data = Unmanaged.passRetained(pending).toOpaque()
        var buffer = unsafe Self.buffer(UnsafeRawBufferPointer(pending.bytes))
        let code = unsafe uv_write(request, stream, &buffer, 1) { request, status in
            guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
            let pending = unsafe Unmanaged<PendingWrite>.fromOpaque(data).takeRetainedValue()
            unsafe request.deallocate()
            pending.connection?.didWrite(unsafe pending.bytes.count, status)
        }
        if code < 0 {
            unsafe Unmanaged.passUnretained(pending).release()
            unsafe request.deallocate()
            queuedByteCount -= bytes.count - start
            end(LoopError(rawValue: code))
        }
    }

    private func didWrite(_ count: Int, _ status: Int32) {
        queuedByteCount -= count
        guard status == 0 else { return end(LoopError(rawValue: status)) }
        sentByteCount += count
        if queuedByteCount == 0 { onDrain?() }
    }
}
