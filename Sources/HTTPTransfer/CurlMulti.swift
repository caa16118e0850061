internal import CCurl
internal import CCurlShims
internal import CoreModel
internal import EventLoop

/// Whose transfers a ``CurlMulti`` drives.
protocol CurlMultiOwner: AnyObject {
    /// libcurl has worked and is off the stack: look at ``CurlMulti/nextEnded()``. Never from inside another call; may
    /// close or release the object.
    func settle()
}

/// libcurl's multi interface on a loop: watches the sockets and keeps the timer that libcurl asks for.
///
/// Confined to the loop.
@safe final class CurlMulti {
    /// libcurl's multi handle, until ``close()``.
    let handle: UnsafeMutableRawPointer
    /// Whether libcurl is on the stack; it takes nothing in then.
    private(set) var isDriving = false

    /// Kept alive while libcurl is on the stack, whose callbacks may let it go.
    weak var owner: (any CurlMultiOwner)?

    private let loop: EventLoop
    private var timer: LoopTimer?
    private var watchers: [Int32: SocketWatcher] = [:]
    private var isKickPending = false
    private var isClosed = false

    init(loop: EventLoop) {
        self.loop = loop
        // Only an exhausted memory makes these fail.
        guard Self.isInitialised, let handle = unsafe curl_multi_init() else {
            preconditionFailure("libcurl has no memory")
        }
        unsafe self.handle = handle
        unsafe _ = ccurl_multi_set_callbacks(
            handle,
            { _, socket, what, context, _ in
                guard let context = unsafe context else { return 0 }
                unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
                return 0
            },
            { _, milliseconds, context in
                guard let context = unsafe context else { return 0 }
                unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().armTimer(milliseconds)
                return 0
            },
            // Unretained: the handle goes before the object.
            Unmanaged.passUnretained(self).toOpaque())
        timer = LoopTimer(loop: loop) { [weak self] in self?.drive(socket: CURL_SOCKET_TIMEOUT, events: 0) }
    }

    deinit { close() }

    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// A handle with what all connections of this module have in common.
    static func makeEasy(url: String, connectTimeout: Duration, certificateFile: String?) -> UnsafeMutableRawPointer {
        guard let easy = unsafe curl_easy_init() else { preconditionFailure("libcurl has no memory") }
        // Each option is known to the library's version; a failure would show in the transfer.
        unsafe _ = ccurl_easy_set_string(easy, CURLOPT_URL, url)
        unsafe _ = ccurl_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it, ending a transfer whose host is being looked up waits for the look-up, and the loop with it.
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout.inMilliseconds))
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        unsafe _ = ccurl_easy_keep_from_children(easy)
        if let certificateFile { unsafe _ = ccurl_easy_set_string(easy, CURLOPT_CAINFO, certificateFile) }
        return unsafe easy
    }

    /// Takes a transfer in and begins with it; false when libcurl refuses it.
    func add(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard unsafe curl_multi_add_handle(handle, easy) == CURLM_OK else { return false }
        guard !isKickPending else { return true }
        // Without waiting for libcurl's timer.
        isKickPending = true
        timer?.arm(after: .zero)
        return true
    }

    /// The next transfer that has ended, with its result.
    func nextEnded() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: Int32 = 0
        while !isClosed, let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            return unsafe (easy, message.pointee.data.result)
        }
        return nil
    }

    /// Drives libcurl no more, which keeps its connections: their sockets are another's to watch.
    func halt() {
        owner = nil
        timer = nil
        for watcher in watchers.values { watcher.close() }
        watchers = [:]
    }

    /// Closes every connection. Take the transfers out before.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        owner = nil
        timer = nil
        unsafe _ = curl_multi_cleanup(handle)
        watchers = [:]
    }

    // MARK: - What libcurl asks for

    private func watch(_ socket: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            watchers.removeValue(forKey: socket)?.close()
            return
        }
        guard timer != nil else { return }
        var events: SocketWatcher.Events = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        if let watcher = watchers[socket] { return watcher.watch(events) }
        let watcher = try? SocketWatcher(loop: loop, descriptor: socket) { [weak self] events, error in
            var flags: Int32 = 0
            if error != nil { flags = CURL_CSELECT_ERR }
            if events.contains(.readable) { flags |= CURL_CSELECT_IN }
            if events.contains(.writable) { flags |= CURL_CSELECT_OUT }
            self?.drive(socket: socket, events: flags)
        }
        watcher?.watch(events)
        watchers[socket] = watcher
    }

    private func armTimer(_ milliseconds: Int) {
        if milliseconds < 0 {
            if !isKickPending { timer?.cancel() }
        } else {
            timer?.arm(after: .milliseconds(isKickPending ? 0 : milliseconds))
        }
    }

    private func drive(socket: Int32, events: Int32) {
        guard let owner, !isDriving else { return }
        isKickPending = false
        isDriving = true
        var running: Int32 = 0
        unsafe _ = curl_multi_socket_action(handle, socket, events, &running)
        isDriving = false
        owner.settle()
    }
}
