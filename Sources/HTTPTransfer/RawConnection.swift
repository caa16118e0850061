internal import CCurl
internal import CCurlShims
internal import CoreModel
public import EventLoop

/// The connection that a request would go over, for a protocol that takes it from there: name look-up, proxy, both
/// address families and TLS with its verification are libcurl's (CURLOPT_CONNECT_ONLY), the bytes are the owner's.
///
/// Confined to the loop. Callbacks come on the loop, never from inside ``init(loop:to:certificateFile:)``, and may close
/// or release the connection. Releasing the last reference closes it.
@safe public final class RawConnection: CurlMultiOwner {
    /// How long the connection may take to come up, TLS included.
    public static let connectTimeout: Duration = .seconds(10)

    /// The connection is up: call ``watch(_:)``.
    public var onOpen: (() -> Void)?
    /// The connection did not come up; nothing comes after it.
    public var onFailure: ((HTTPError) -> Void)?
    /// What was watched for happened.
    public var onReady: ((SocketWatcher.Events) -> Void)?

    private let loop: EventLoop
    private let url: String
    /// A multi handle for this connection alone. In one that is shared, libcurl would close the connection as an idle
    /// one as soon as others need room, and take bytes that wait on it for a sign that it is broken.
    private var multi: CurlMulti?
    private var easy: UnsafeMutableRawPointer?
    private var watcher: SocketWatcher?

    /// Begins to connect to the host and port of `url`.
    ///
    /// - Parameters:
    ///   - url: http, or https for TLS.
    ///   - certificateFile: A file of certificates to trust in place of the system's.
    public init(loop: EventLoop, to url: String, certificateFile: String? = nil) {
        loop.checkIsolated()
        self.loop = loop
        self.url = url
        let multi = CurlMulti(loop: loop)
        multi.owner = self
        self.multi = multi
        let easy = unsafe CurlMulti.makeEasy(
            url: url, connectTimeout: Self.connectTimeout, certificateFile: certificateFile)
        unsafe self.easy = easy
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        // Only HTTP/1.1 can be left for another protocol: TLS must not agree on HTTP/2.
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // A proxy must pass everything on, not only requests.
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        _ = unsafe multi.add(easy)
    }

    deinit { close() }

    /// Watches for `events` from now on; ``onReady`` tells of them. Of use once the connection is up.
    public func watch(_ events: SocketWatcher.Events) { watcher?.watch(events) }

    /// Reads what has come. Read until it would block: TLS may hold bytes that the watch doesn't see.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketProgress {
        guard watcher != nil, let easy = unsafe easy else { return .failed("not connected") }
        var count = 0
        let code = unsafe curl_easy_recv(easy, buffer.baseAddress, buffer.count, &count)
        return progress(code, count)
    }

    /// Writes as much as the system takes. After ``SocketProgress/wouldBlock`` the next write must begin with the same
    /// bytes at the same address, because TLS may have begun to send them.
    public func write(_ bytes: UnsafeRawBufferPointer) -> SocketProgress {
        guard watcher != nil, let easy = unsafe easy else { return .failed("not connected") }
        var count = 0
        let code = unsafe curl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
        return progress(code, count)
    }

    /// Closes the connection; no callback comes any more. Harmless when closed.
    public func close() {
        onOpen = nil
        onFailure = nil
        onReady = nil
        // Before libcurl closes the descriptor.
        watcher?.close()
        watcher = nil
        guard let multi, let easy = unsafe easy else { return }
        self.multi = nil
        unsafe self.easy = nil
        // This is what closes a connection that was only connected.
        unsafe _ = curl_multi_remove_handle(multi.handle, easy)
        unsafe curl_easy_cleanup(easy)
        multi.close()
    }

    // MARK: - Helpers

    private func progress(_ code: CURLcode, _ count: Int) -> SocketProgress {
        switch code {
        case CURLE_OK: count > 0 ? .bytes(count) : .end
        case CURLE_AGAIN: .wouldBlock
        default: .failed(unsafe String(cString: curl_easy_strerror(code)))
        }
    }

    func settle() {
        guard let (_, code) = unsafe multi?.nextEnded(), let easy = unsafe easy else { return }
        unsafe finish(code, easy)
    }

    /// Takes the connection over from libcurl's multi handle, which is not driven any more but must keep it.
    private func finish(_ code: CURLcode, _ easy: UnsafeMutableRawPointer) {
        // The loop takes one watch of a socket at a time.
        multi?.halt()
        var descriptor = Int32(CURL_SOCKET_BAD)
        guard code == CURLE_OK,
            unsafe ccurl_easy_get_socket(easy, CURLINFO_ACTIVESOCKET, &descriptor) == CURLE_OK,
            descriptor != CURL_SOCKET_BAD,
            let watcher = try? SocketWatcher(
                loop: loop, descriptor: descriptor,
                handler: { [weak self] events, error in
                    // A failure shows when the socket is used.
                    self?.onReady?(error == nil ? events : [.readable, .writable])
                })
        else {
            let error = unsafe HTTPError(connecting: code, easy, url: url)
            let notify = onFailure
            close()
            notify?(error)
            return
        }
        self.watcher = watcher
        onOpen?()
        onOpen = nil
        onFailure = nil
    }
}
