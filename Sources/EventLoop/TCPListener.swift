internal import CLibuv
public import CoreModel
internal import Glibc

/// A listening TCP socket. Confined to the loop; releasing it closes it.
@safe public final class TCPListener {
    /// Connections that wait to be accepted.
    public static let backlog: Int32 = 512

    private let loop: EventLoop
    private let handle: LoopHandle
    private let onConnection: (TCPConnection) -> Void

    /// Listens at `address`; port 0 lets the system choose.
    ///
    /// - Parameter onConnection: Called for each connection, which is up; set its callbacks, then start reading.
    /// - Throws: ``LoopError/addressInUse`` and the like.
    public init(
        loop: EventLoop, at address: NetworkAddress, onConnection: @escaping (TCPConnection) -> Void
    ) throws(LoopError) {
        self.loop = loop
        self.onConnection = onConnection
        handle = unsafe try LoopHandle(loop: loop, byteCount: MemoryLayout<uv_tcp_t>.size) { loop, tcp in
            unsafe uv_tcp_init(loop, tcp.assumingMemoryBound(to: uv_tcp_t.self))
        }
        handle.owner = self
        guard let tcp = unsafe handle.tcp, let stream = unsafe handle.stream else { throw .cancelled }
        var code = unsafe address.withSocketAddress { unsafe uv_tcp_bind(tcp, $0, 0) }
        if code == 0 {
            code = unsafe uv_listen(stream, Self.backlog) { stream, status in
                guard status == 0, let stream = unsafe stream else { return }
                unsafe LoopHandle.owner(of: UnsafeMutableRawPointer(stream), as: TCPListener.self)?.accept(from: stream)
            }
        }
        guard code == 0 else {
            handle.close()
            throw LoopError(rawValue: code)
        }
    }

    deinit { handle.closeFromAnywhere() }

    /// Where the socket listens, with the port that the system chose.
    public var localAddress: NetworkAddress? {
        guard let tcp = unsafe handle.tcp else { return nil }
        var storage = sockaddr_storage()
        var length = Int32(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe uv_tcp_getsockname(tcp, $0, &length)
            }
        }
        return code == 0 ? NetworkAddress(storage) : nil
    }

    /// Stops listening.
    public func close() { handle.close() }

    private func accept(from stream: UnsafeMutablePointer<uv_stream_t>) {
        // One that is gone already is no fault of the listener's.
        guard let connection = try? unsafe TCPConnection(accepting: stream, loop: loop) else { return }
        onConnection(connection)
    }
}
