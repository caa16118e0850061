internal import CMicroHTTPD
internal import CMicroHTTPDShims
internal import CoreModel
internal import EventLoop
internal import Glibc

/// The server's side of HTTP by libmicrohttpd on a loop: answers pages and upgrades to WebSockets.
///
/// Confined to the loop. ``close()`` it before its release.
@safe final class HTTPDaemon {
    /// Answers a request for a page.
    var onPage: ((_ method: String, _ path: String) -> HTTPPage)?
    /// Is told of each handshake that a trusted proxy sent without saying for whom.
    var onRefusal: ((String) -> Void)?
    /// Takes a connection after its handshake; from outside libmicrohttpd's calls.
    var onUpgrade: ((UpgradedSocket) -> Void)?

    /// A connection that has not been upgraded.
    private struct Plain {
        var descriptor: Int32
        /// When the request began, or the time without one.
        var began: MonotonicInstant
        /// The other side, or for whom it asks when it is a trusted proxy.
        var address: NetworkAddress?
    }

    private let loop: EventLoop
    private let requestTimeout: Duration
    /// The hosts that are believed about whom they forward.
    private let trustedProxies: Set<Bytes16>
    private var daemon: OpaquePointer?
    private var watcher: SocketWatcher?
    /// Runs libmicrohttpd when it asks for it.
    private var timer: LoopTimer?
    /// Ends connections that take too long. libmicrohttpd's own timeout starts anew with each byte.
    private var sweeper: LoopTimer?
    private var isSweeping = false
    private var plain: [UInt: Plain] = [:]
    /// The hosts of all connections that are counted, the upgraded ones too.
    private var hosts: [UInt: Bytes16] = [:]
    private var countPerHost: [Bytes16: Int] = [:]
    private let maximumCountPerHost: Int
    /// Whether a loopback address is counted too.
    private let countsLoopback: Bool
    private var upgraded: [UpgradedSocket] = []
    /// libmicrohttpd is on the stack; it must neither be driven nor stopped.
    private var isRunning = false
    private var isClosed = false

    /// Listens; `nil` when it can't.
    init?(
        loop: EventLoop, at address: NetworkAddress, maximumConnectionCount: Int, requestTimeout: Duration,
        trustedProxies: Set<Bytes16>, maximumCountPerHost: Int, countsLoopback: Bool
    ) {
        loop.checkIsolated()
        self.loop = loop
        self.requestTimeout = requestTimeout
        self.trustedProxies = trustedProxies
        self.maximumCountPerHost = maximumCountPerHost
        self.countsLoopback = countsLoopback
        var callbacks = unsafe cmicrohttpd_callbacks(
            on_request: { context, connection, path, method, version, _, _, mark in
                guard let context = unsafe context, let connection = unsafe connection, let path = unsafe path,
                    let method = unsafe method, let version = unsafe version, let mark = unsafe mark
                else { return .NO }
                let daemon = unsafe Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
                let isFirst = unsafe mark.pointee == nil
                unsafe mark.pointee = context
                return unsafe daemon.take(
                    RequestHead(
                        connection, method: String(cString: method), path: String(cString: path),
                        version: String(cString: version)), on: connection, isFirst: isFirst)
            },
            on_completed: { context, connection, _, _ in
                guard let context = unsafe context else { return }
                let daemon = unsafe Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
                daemon.plain[UInt(bitPattern: connection)]?.began = daemon.loop.now
            },
            on_connection: { context, connection, _, what in
                guard let context = unsafe context, let connection = unsafe connection else { return }
                let daemon = unsafe Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
                if what == .CONNECTION_NOTIFY_STARTED {
                    unsafe daemon.began(connection)
                } else {
                    daemon.ended(UInt(bitPattern: connection))
                }
            },
            // Unretained: libmicrohttpd calls back from inside its calls only, and is stopped before this object goes.
            context: Unmanaged.passUnretained(self).toOpaque())
        unsafe daemon = cmicrohttpd_start(
            address.host.bytes, address.port, UInt32(clamping: maximumConnectionCount),
            Handshake.maximumHeadByteCount, &callbacks)
        guard let daemon = unsafe daemon else { return nil }
        timer = LoopTimer(loop: loop) { [weak self] in self?.run() }
        sweeper = LoopTimer(loop: loop) { [weak self] in self?.sweep() }
        watcher = try? SocketWatcher(loop: loop, descriptor: unsafe cmicrohttpd_epoll_descriptor(daemon)) {
            [weak self] _, _ in self?.run()
        }
        guard watcher != nil else {
            close()
            return nil
        }
        watcher?.watch(.readable)
    }

    /// Where it listens; 0 once closed.
    var port: UInt16 { unsafe daemon.map { unsafe cmicrohttpd_port($0) } ?? 0 }

    /// Stops listening and ends every connection that was not upgraded; those that were must have been closed.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        onPage = nil
        onRefusal = nil
        onUpgrade = nil
        if !isRunning { cleanUp() }
    }

    private func cleanUp() {
        watcher?.close()
        watcher = nil
        timer = nil
        sweeper = nil
        for socket in upgraded { socket.close() }
        upgraded = []
        guard let daemon = unsafe daemon else { return }
        unsafe MHD_stop_daemon(daemon)
        unsafe self.daemon = nil
    }

    // MARK: - Driving libmicrohttpd

    private func run() {
        guard !isRunning, !isClosed, let daemon = unsafe daemon else { return }
        isRunning = true
        unsafe _ = MHD_run(daemon)
        isRunning = false
        let upgraded = upgraded
        self.upgraded = []
        for socket in upgraded {
            if let onUpgrade { onUpgrade(socket) } else { socket.close() }
        }
        guard !isClosed else { return cleanUp() }
        var milliseconds: UInt64 = 0
        if unsafe MHD_get_timeout(daemon, &milliseconds) == MHD_Result.YES {
            timer?.arm(after: .milliseconds(Int64(clamping: milliseconds)))
        }
    }

    private func began(_ connection: OpaquePointer) {
        let key = UInt(bitPattern: connection)
        let descriptor = unsafe cmicrohttpd_descriptor(connection)
        let address = unsafe Self.client(of: connection)
        plain[key] = Plain(descriptor: descriptor, began: loop.now, address: address)
        armSweeper()
        guard let address, countsLoopback || !address.isLoopback, !trustedProxies.contains(address.host) else { return }
        hosts[key] = address.countedHost
        countPerHost[address.countedHost, default: 0] += 1
        // As in `sweep`: libmicrohttpd closes it.
        if countPerHost[address.countedHost, default: 0] > maximumCountPerHost {
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func ended(_ key: UInt) {
        plain[key] = nil
        guard let host = hosts.removeValue(forKey: key) else { return }
        countPerHost[host, default: 1] -= 1
        if countPerHost[host] == 0 { countPerHost[host] = nil }
    }

    private static func client(of connection: OpaquePointer) -> NetworkAddress? {
        var host = [UInt8](repeating: 0, count: 16)
        var port: UInt16 = 0
        guard unsafe cmicrohttpd_client(connection, &host, &port) != 0, let host = Bytes16(host) else { return nil }
        return NetworkAddress(host: host, port: port)
    }

    private func armSweeper() {
        guard !isSweeping else { return }
        isSweeping = true
        sweeper?.arm(after: requestTimeout / 2)
    }

    private func sweep() {
        isSweeping = false
        // What came while the loop was busy came in time.
        run()
        let now = loop.now
        for connection in plain.values where connection.began.duration(to: now) >= requestTimeout {
            // libmicrohttpd owns the descriptor: it finds the end and closes it.
            _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
        }
        if !plain.isEmpty { armSweeper() }
    }

    // MARK: - Requests

    private func take(_ request: RequestHead, on connection: OpaquePointer, isFirst: Bool) -> MHD_Result {
        // The first call comes before the body: an answer to it makes libmicrohttpd close the connection and read no
        // body. Without one it is answered in the second call and the connection stays.
        if isFirst, !request.hasBody { return .YES }
        guard request.asksForWebSocket else {
            return unsafe answer(connection, onPage?(request.method, request.path) ?? .text(503, "closing\n"))
        }
        if let proxy = unsafe Self.client(of: connection), trustedProxies.contains(proxy.host) {
            guard let viewer = request.forwardedAddress else {
                let reason = "X-Forwarded-For is missing or malformed"
                onRefusal?("the proxy \(proxy) does not say for whom it connects: \(reason)")
                return unsafe answer(connection, .text(400, reason + "\n"))
            }
            plain[UInt(bitPattern: connection)]?.address = viewer
        }
        switch request.webSocketHandshake {
        case .success(let fields): return unsafe upgrade(connection, fields)
        case .failure(let refusal): return unsafe answer(connection, refusal.page, refusal.fields)
        }
    }

    private func answer(
        _ connection: OpaquePointer, _ page: HTTPPage, _ fields: [(String, String)] = []
    ) -> MHD_Result {
        let response = unsafe page.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                MHD_ResponseMemoryMode.RESPMEM_MUST_COPY)
        }
        return unsafe queue(
            response, UInt32(clamping: page.status), fields + [("Content-Type", page.contentType)], on: connection)
    }

    private func upgrade(_ connection: OpaquePointer, _ fields: [(String, String)]) -> MHD_Result {
        let response = unsafe MHD_create_response_for_upgrade(
            { context, connection, _, bytes, count, descriptor, handle in
                guard let context = unsafe context, let connection = unsafe connection, let handle = unsafe handle
                else { return }
                let received = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
                unsafe Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
                    .didUpgrade(connection, received, descriptor, handle)
            }, Unmanaged.passUnretained(self).toOpaque())
        return unsafe queue(response, 101, fields, on: connection)
    }

    private func queue(
        _ response: OpaquePointer?, _ status: UInt32, _ fields: [(String, String)], on connection: OpaquePointer
    ) -> MHD_Result {
        // An exhausted memory ends the connection.
        guard let response = unsafe response else { return .NO }
        defer { unsafe MHD_destroy_response(response) }
        for (name, value) in fields {
            guard unsafe MHD_add_response_header(response, name, value) == MHD_Result.YES else { return .NO }
        }
        return unsafe MHD_queue_response(connection, status, response)
    }

    private func didUpgrade(
        _ connection: OpaquePointer, _ received: [UInt8], _ descriptor: Int32, _ handle: OpaquePointer
    ) {
        let address = plain.removeValue(forKey: UInt(bitPattern: connection))?.address
        upgraded.append(
            UpgradedSocket(loop: loop, descriptor: descriptor, remoteAddress: address, received: received) {
                unsafe self.giveBack(handle)  // Strongly: the handle is of use as long as the daemon runs.
            })
    }

    private func giveBack(_ handle: OpaquePointer) {
        guard unsafe daemon != nil else { return }
        unsafe cmicrohttpd_close_upgraded(handle)
        // The descriptor is closed when libmicrohttpd runs next.
        timer?.arm(after: .zero)
    }
}
