internal import CoreModel
internal import EventLoop
internal import Glibc

/// A connection that an ``HTTPDaemon`` gave over after its upgrade: its descriptor is the daemon's, its bytes ours.
@safe final class UpgradedSocket: Transport {
    var onReady: ((SocketWatcher.Events) -> Void)?
    /// The other side's address.
    let remoteAddress: NetworkAddress?

    private let loop: EventLoop
    private let descriptor: Int32
    /// Gives the descriptor back, once.
    private var release: (() -> Void)?
    /// What the daemon had read behind the request.
    private var received: ArraySlice<UInt8>
    private var watcher: SocketWatcher?

    init(
        loop: EventLoop, descriptor: Int32, remoteAddress: NetworkAddress?, received: [UInt8],
        release: @escaping () -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.remoteAddress = remoteAddress
        self.received = received[...]
        self.release = release
        var on: Int32 = 1
        // A socket that doesn't know the option works without it.
        unsafe _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        // A loop that stops watches nothing, and closes this soon.
        watcher = try? SocketWatcher(loop: loop, descriptor: descriptor) { [weak self] events, error in
            // A failure shows when the socket is used.
            self?.onReady?(error == nil ? events : [.readable, .writable])
        }
    }

    deinit { close() }

    func watch(_ events: SocketWatcher.Events) { watcher?.watch(events) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketProgress {
        guard release != nil else { return .end }
        guard received.isEmpty else {
            let count = min(buffer.count, received.count)
            unsafe buffer.copyBytes(from: received.prefix(count))
            received = received.dropFirst(count)
            return .bytes(count)
        }
        while true {
            let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            return count == 0 ? .end : Self.progress(count)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> SocketProgress {
        guard release != nil else { return .failed("closed") }
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while true {
            let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count < 0, errno == EINTR { continue }
            return Self.progress(count)
        }
    }

    func finishWriting() {
        guard release != nil else { return }
        // One that fails is over, which the next read says.
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        onReady = nil
        guard let release else { return }
        self.release = nil
        // Before the daemon closes the descriptor.
        watcher?.close()
        watcher = nil
        release()
    }

    private static func progress(_ count: Int) -> SocketProgress {
        if count >= 0 { return .bytes(count) }
        let code = errno
        return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(unsafe String(cString: strerror(code)))
    }
}
