internal import CLibuv
public import CoreModel
internal import Glibc

/// A UDP socket: datagrams in are lent, several for each system call; those out are queued within a bound and dropped
/// beyond it, as a full network drops them. Confined to the loop; releasing the last reference closes it.
@safe public final class UDPSocket {
    /// The most bytes that wait for the system to take them.
    public static let maximumQueuedByteCount = 1 << 20

    /// A datagram came in; the span is valid during the call only.
    public var onDatagram: ((RawSpan, NetworkAddress) -> Void)?

    /// Bytes accepted for sending and not yet handed to the system.
    public var queuedByteCount: Int {
        guard let udp = unsafe udp else { return 0 }
        return unsafe uv_udp_get_send_queue_size(udp)
    }
    /// Datagrams received since the start.
    public private(set) var receivedCount = 0
    /// Datagrams handed to the system since the start.
    public private(set) var sentCount = 0
    /// Datagrams dropped because the queue was full or the system refused them.
    public private(set) var droppedCount = 0
    /// Where the socket is bound, with the port that the system chose; `nil` once closed.
    public var localAddress: NetworkAddress? {
        guard let udp = unsafe udp else { return nil }
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe uv_udp_getsockname(udp, $0, &length)
            }
        }
        return code == 0 ? NetworkAddress(storage) : nil
    }

    private let loop: EventLoop
    private let handle: LoopHandle

    /// Binds a socket to `address`, port 0 for any free one, and receives from now on.
    ///
    /// - Throws: ``LoopError/addressInUse`` and the like.
    public init(loop: EventLoop, at address: NetworkAddress) throws(LoopError) {
        self.loop = loop
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_udp_t>.size) { loop, udp in
            // With this flag libuv splits the read buffer into places of 64 KiB and fills them with one call.
            unsafe uv_udp_init_ex(
                loop, udp.assumingMemoryBound(to: uv_udp_t.self), UInt32(AF_UNSPEC) | UInt32(UV_UDP_RECVMMSG.rawValue))
        }
        handle.owner = self
        handle.onLoopStop = { [weak self] in self?.onDatagram = nil }
        guard let udp = unsafe udp else { throw .cancelled }
        var code = unsafe address.withSocketAddress { unsafe uv_udp_bind(udp, $0, 0) }
        if code == 0 { code = unsafe Self.receive(on: udp) }
        guard code == 0 else {
            handle.close()
            throw LoopError(rawValue: code)
        }
    }

    deinit { handle.closeFromAnywhere() }

    /// Sends one datagram: at once when the system takes it.
    ///
    /// - Returns: false when it's dropped: the socket is closed, its queue full, or the system refuses this datagram, as
    ///   for want of a route or because it's too long.
    @discardableResult
    public func send(_ bytes: RawSpan, to address: NetworkAddress) -> Bool {
        loop.checkIsolated()
        guard let udp = unsafe udp else { return false }
        let isTaken = unsafe bytes.withUnsafeBytes { bytes in
            unsafe address.withSocketAddress { address in unsafe send(bytes, to: address, on: udp) }
        }
        if !isTaken { droppedCount += 1 }
        return isTaken
    }

    /// Sends one datagram; see ``send(_:to:)-(RawSpan,_)``.
    @discardableResult
    public func send(_ bytes: [UInt8], to address: NetworkAddress) -> Bool {
        unsafe send(bytes.span.bytes, to: address)
    }

    /// Sets the size of the system's receive buffer in bytes (SO_RCVBUF): what comes in one turn of the loop fits or is
    /// lost.
    public func setReceiveBuffer(_ byteCount: Int) {
        guard let base = unsafe handle.base else { return }
        var value = Int32(clamping: byteCount)
        // A smaller buffer than asked for works too.
        unsafe _ = uv_recv_buffer_size(base, &value)
    }

    /// Closes the socket; what is queued is dropped.
    public func close() {
        loop.checkIsolated()
        onDatagram = nil
        handle.close()
    }

    // MARK: - Helpers

    private var udp: UnsafeMutablePointer<uv_udp_t>? { unsafe handle.pointer?.assumingMemoryBound(to: uv_udp_t.self) }

    @unsafe private func send(
        _ bytes: UnsafeRawBufferPointer, to address: UnsafePointer<sockaddr>, on udp: UnsafeMutablePointer<uv_udp_t>
    ) -> Bool {
        var buffer = unsafe TCPConnection.buffer(bytes)
        if unsafe uv_udp_get_send_queue_count(udp) == 0 {
            let code = unsafe uv_udp_try_send(udp, &buffer, 1, address)
            if code >= 0 { sentCount += 1 }
            guard code == UV_EAGAIN.rawValue else { return code >= 0 }
        }
        guard queuedByteCount + bytes.count <= Self.maximumQueuedByteCount else { return false }
        // The request and its bytes are one allocation, which the callback frees; it comes also when the socket closes.
        let headerByteCount = unsafe MemoryLayout<uv_udp_send_t>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: headerByteCount + bytes.count, alignment: 16)
        let request = unsafe memory.bindMemory(to: uv_udp_send_t.self, capacity: 1)
        unsafe request.initialize(to: uv_udp_send_t())
        let copy = unsafe UnsafeMutableRawBufferPointer(start: memory + headerByteCount, count: bytes.count)
        unsafe copy.copyMemory(from: bytes)
        unsafe buffer = TCPConnection.buffer(UnsafeRawBufferPointer(copy))
        let code = unsafe uv_udp_send(request, udp, &buffer, 1, address) { request, status in
            guard let request = unsafe request else { return }
            let handle = unsafe UnsafeMutableRawPointer(request.pointee.handle)
            unsafe UnsafeMutableRawPointer(request).deallocate()
            unsafe LoopHandle.owner(of: handle, as: UDPSocket.self)?.didSend(status)
        }
        if code < 0 { unsafe memory.deallocate() }
        return code == 0
    }

    private func didSend(_ status: Int32) {
        if status == 0 { sentCount += 1 } else { droppedCount += 1 }
    }

    private static func receive(on udp: UnsafeMutablePointer<uv_udp_t>) -> Int32 {
        unsafe uv_udp_recv_start(
            udp,
            { handle, _, buffer in
                guard let buffer = unsafe buffer,
                    let socket = unsafe LoopHandle.owner(of: UnsafeMutableRawPointer(handle), as: UDPSocket.self)
                else { return }
                // libuv calls back for everything in the loop's one buffer before anybody else is lent it.
                unsafe buffer.pointee = uv_buf_init(socket.loop.readBuffer, UInt32(EventLoop.readBufferByteCount))
            },
            { handle, count, buffer, address, flags in
                // Without an address nothing was read; a datagram that didn't fit is one that nobody can use.
                guard count >= 0, let address = unsafe address, let memory = unsafe buffer?.pointee.base,
                    flags & UInt32(UV_UDP_PARTIAL.rawValue) == 0,
                    let socket = unsafe LoopHandle.owner(of: UnsafeMutableRawPointer(handle), as: UDPSocket.self),
                    let sender = unsafe NetworkAddress(address)
                else { return }
                socket.receivedCount += 1
                unsafe socket.onDatagram?(UnsafeRawBufferPointer(start: memory, count: count).bytes, sender)
            })
    }
}
