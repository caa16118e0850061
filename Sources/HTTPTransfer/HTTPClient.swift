internal import CCurl
internal import CCurlShims
internal import CoreModel
public import EventLoop

/// HTTP by libcurl's multi interface on a loop: HTTP/1.1, HTTP/2 over TLS, verified certificates, connections reused.
///
/// Confined to the loop. Events come on the loop, never from inside ``start(_:handler:)``.
@safe public final class HTTPClient: CurlMultiOwner {
    /// The client's settings.
    public struct Configuration: Sendable {
        /// The User-Agent field.
        public var userAgent = "pdn/1"
        /// Connections to one host at once.
        public var connectionsPerHost = 6
        /// A file of certificates to trust in place of the system's.
        public var certificateFile: String?
        /// Seeds the jitter of retries.
        public var seed: UInt64 = 0

        /// The defaults.
        public init() {}
    }

    /// The most bytes of header fields that an answer may have.
    static let maximumHeadByteCount = 64 * 1024
    /// Connections kept open for later requests, to all hosts together; without a value libcurl keeps four times the
    /// transfers under way, which is few when requests come one after the other from several hosts.
    static let keptConnectionCount = 32

    /// Body bytes received since the start, used or not.
    public private(set) var totalBodyByteCount = 0

    private let loop: EventLoop
    private let configuration: Configuration
    private let multi: CurlMulti
    private let share: UnsafeMutableRawPointer?
    private var watchdog: LoopTimer?
    private var transfers: [ObjectIdentifier: HTTPTransfer] = [:]
    private var generator: SeededGenerator
    private var isClosed = false
    /// `close` was called while libcurl was on the stack.
    private var isShutDownPending = false
    /// When the watchdog looks next.
    private var watchdogDeadline: MonotonicInstant?

    /// Makes a client without a connection.
    public init(loop: EventLoop, configuration: Configuration = Configuration()) {
        loop.checkIsolated()
        self.loop = loop
        self.configuration = configuration
        generator = SeededGenerator(seed: configuration.seed)
        unsafe share = curl_share_init()
        if let share = unsafe share {
            unsafe _ = ccurl_share_set_long(share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_COOKIE.rawValue))
        }
        multi = CurlMulti(loop: loop)
        multi.owner = self
        unsafe _ = ccurl_multi_set_long(multi.handle, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost)
        unsafe _ = ccurl_multi_set_long(multi.handle, CURLMOPT_MAXCONNECTS, Self.keptConnectionCount)
        unsafe _ = ccurl_multi_set_long(multi.handle, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        watchdog = LoopTimer(loop: loop) { [unowned self] in checkTimeouts() }
        // libcurl must not use sockets whose watches the loop has closed.
        loop.onStop(ObjectIdentifier(self)) { [unowned self] in shutDown() }
    }

    deinit { shutDown() }

    /// Starts a transfer.
    ///
    /// - Parameter handler: Called on the loop for each event. It may start and cancel transfers.
    @discardableResult
    public func start(_ request: HTTPRequest, handler: @escaping (HTTPEvent) -> Void) -> HTTPTransfer {
        loop.checkIsolated()
        let transfer = HTTPTransfer(request: request, client: self, handler: handler)
        guard !isClosed else {
            transfer.phase = .done
            transfer.takeHandler()
            return transfer
        }
        transfers[ObjectIdentifier(transfer)] = transfer
        transfer.startedAt = loop.now
        begin(transfer)
        return transfer
    }

    /// Ends every transfer and connection without an event, from inside a handler too. The client is of no use after it,
    /// nor after its loop stopped.
    public func close() {
        loop.checkIsolated()
        shutDown()
    }

    private func shutDown() {
        guard !isClosed else { return }
        isClosed = true
        if loop.isCurrent { loop.removeStopHandler(ObjectIdentifier(self)) }
        for transfer in transfers.values {
            transfer.phase = .done
            transfer.takeHandler()
        }
        // libcurl may be inside one of these very transfers: all goes once it has returned.
        guard !multi.isDriving else {
            isShutDownPending = true
            return
        }
        cleanUp()
    }

    private func cleanUp() {
        isShutDownPending = false
        for transfer in transfers.values { release(transfer) }
        for transfer in cancelled { release(transfer) }
        transfers = [:]
        cancelled = []
        starting = []
        watchdog = nil
        multi.close()
        if let share = unsafe share { unsafe _ = curl_share_cleanup(share) }
    }

    // MARK: - Transfers

    private func begin(_ transfer: HTTPTransfer) {
        // libcurl takes nothing in while it is on the stack.
        guard !multi.isDriving else { return starting.append(transfer) }
        guard transfer.phase == .waiting else { return }
        if case .range(let range) = transfer.request.bytes, range.isEmpty {
            return finishLater(transfer, .other("an empty range of bytes can't be asked for"))
        }
        guard let easy = unsafe makeHandle(transfer) else {
            return finishLater(transfer, .invalidURL(transfer.request.url))
        }
        unsafe transfer.easy = easy
        transfer.phase = .running
        transfer.attemptedAt = loop.now
        transfer.activeAt = loop.now
        guard unsafe multi.add(easy) else { return finishLater(transfer, .other("libcurl refuses the transfer")) }
        watch(until: deadline(of: transfer))
    }

    private func makeHandle(_ transfer: HTTPTransfer) -> UnsafeMutableRawPointer? {
        let request = transfer.request
        let scheme = request.url.prefix(8).lowercased()
        guard scheme.hasPrefix("http://") || scheme.hasPrefix("https://") else { return nil }
        let easy = unsafe CurlMulti.makeEasy(
            url: request.url, connectTimeout: request.connectTimeout, certificateFile: configuration.certificateFile)
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        unsafe _ = ccurl_easy_set_pointer(easy, CURLOPT_PRIVATE, context)
        let isSecure = scheme.hasPrefix("https")
        let downgrade = request.allowsDowngrade || !isSecure
        unsafe _ = ccurl_easy_set_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, downgrade ? "http,https" : "https")
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_MAXREDIRS, 10)
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_PIPEWAIT, isSecure ? 1 : 0)
        unsafe _ = ccurl_easy_set_long(easy, CURLOPT_BUFFERSIZE, 256 * 1024)
        unsafe _ = ccurl_easy_set_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        unsafe _ = ccurl_easy_set_string(easy, CURLOPT_COOKIEFILE, "")
        if let share = unsafe share { unsafe _ = ccurl_easy_set_share(easy, share) }
        if request.allowsCompression { unsafe _ = ccurl_easy_set_string(easy, CURLOPT_ACCEPT_ENCODING, "") }
        switch request.bytes {
        case .all: break
        case .range(let range):
            unsafe _ = ccurl_easy_set_string(easy, CURLOPT_RANGE, "\(range.lowerBound)-\(range.upperBound - 1)")
        case .from(let offset): unsafe _ = ccurl_easy_set_string(easy, CURLOPT_RANGE, "\(offset)-")
        }
        var list: UnsafeMutablePointer<curl_slist>?
        if let tag = request.ifRange { unsafe list = curl_slist_append(list, "If-Range: \(tag)") }
        for (name, value) in request.headers { unsafe list = curl_slist_append(list, "\(name): \(value)") }
        if unsafe list != nil { unsafe _ = ccurl_easy_set_list(easy, CURLOPT_HTTPHEADER, list) }
        unsafe transfer.headerList = list
        unsafe _ = ccurl_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        unsafe _ = ccurl_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.client.takeHeader(line, transfer) ? size * count : 0
        }
        unsafe _ = ccurl_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        unsafe _ = ccurl_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.client.takeBody(body, transfer) ? size * count : 0
        }
        return unsafe easy
    }

    func cancel(_ transfer: HTTPTransfer) {
        loop.checkIsolated()
        guard transfers.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
        transfer.takeHandler()
        guard multi.isDriving else { return release(transfer) }
        // libcurl may be inside this very transfer: it is taken out once libcurl has returned.
        transfer.phase = .done
        cancelled.append(transfer)
    }

    /// Transfers started while libcurl was on the stack.
    private var starting: [HTTPTransfer] = []

    /// Transfers cancelled while libcurl was on the stack.
    private var cancelled: [HTTPTransfer] = []

    private func release(_ transfer: HTTPTransfer) {
        transfer.phase = .done
        transfer.retryTimer = nil
        guard let easy = unsafe transfer.easy else { return }
        unsafe transfer.easy = nil
        unsafe _ = curl_multi_remove_handle(multi.handle, easy)
        unsafe curl_easy_cleanup(easy)
        if let list = unsafe transfer.headerList { unsafe curl_slist_free_all(list) }
        unsafe transfer.headerList = nil
    }

    private func finishLater(_ transfer: HTTPTransfer, _ error: HTTPError) {
        transfer.retryTimer = LoopTimer(loop: loop) { [unowned self, unowned transfer] in fail(transfer, error) }
        transfer.retryTimer?.arm(after: .zero)
    }

    private func fail(_ transfer: HTTPTransfer, _ error: HTTPError) {
        guard transfer.phase != .done else { return }
        release(transfer)
        if error.isRetryable, transfer.received == 0, transfer.attempt < transfer.request.retry.attempts {
            return retry(transfer)
        }
        transfers[ObjectIdentifier(transfer)] = nil
        transfer.takeHandler()?(.failed(error))
    }

    private func retry(_ transfer: HTTPTransfer) {
        let policy = transfer.request.retry
        let doubled = policy.baseDelay * (1 << min(transfer.attempt - 1, 16))
        let delay = min(doubled, policy.maximumDelay) * Double.random(in: 0.5...1, using: &generator)
        transfer.attempt += 1
        transfer.phase = .waiting
        transfer.head = []
        transfer.headByteCount = 0
        transfer.hasResponded = false
        transfer.verdict = nil
        transfer.retryTimer = LoopTimer(loop: loop) { [unowned self, unowned transfer] in
            transfer.retryTimer = nil
            begin(transfer)
        }
        transfer.retryTimer?.arm(after: delay)
    }

    // MARK: - libcurl's callbacks

    private func takeHeader(_ line: UnsafeRawBufferPointer, _ transfer: HTTPTransfer) -> Bool {
        guard transfer.phase == .running else { return false }
        transfer.activeAt = loop.now
        transfer.headByteCount += line.count
        guard transfer.headByteCount <= Self.maximumHeadByteCount else {
            transfer.verdict = .tooLarge(limit: Self.maximumHeadByteCount)
            return false
        }
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            transfer.head = []
            return true
        }
        guard let colon = text.firstIndex(of: ":") else { return true }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let end = value.lastIndex { !$0.isWhitespace && !$0.isNewline }
        transfer.head.append((text[..<colon].lowercased(), end.map { String(value[...$0]) } ?? ""))
        return true
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer, _ transfer: HTTPTransfer) -> Bool {
        guard transfer.phase == .running, let easy = unsafe transfer.easy else { return false }
        totalBodyByteCount += bytes.count
        transfer.activeAt = loop.now
        guard unsafe respond(transfer, easy) else { return false }
        let limit = min(transfer.request.maximumByteCount, transfer.request.expectedByteCount ?? .max)
        guard transfer.received + bytes.count <= limit else {
            let expected = transfer.request.expectedByteCount
            transfer.verdict =
                expected.map { .wrongLength(expected: $0, received: transfer.received + bytes.count) }
                ?? .tooLarge(limit: limit)
            return false
        }
        transfer.received += bytes.count
        transfer.handler?(.body(unsafe ArraySlice(bytes)))
        return transfer.phase == .running
    }

    /// Tells the handler of the answer's head, once; false when the transfer is to end.
    private func respond(_ transfer: HTTPTransfer, _ easy: UnsafeMutableRawPointer) -> Bool {
        guard !transfer.hasResponded else { return true }
        var status = 0
        unsafe _ = ccurl_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        guard (200..<300).contains(status) else {
            transfer.verdict = .status(status)
            return false
        }
        transfer.hasResponded = true
        var finalURL = transfer.request.url
        var text: UnsafePointer<CChar>?
        if unsafe ccurl_easy_get_string(easy, CURLINFO_EFFECTIVE_URL, &text) == CURLE_OK, let text = unsafe text {
            finalURL = unsafe String(cString: text)
        }
        let response = HTTPResponse(status: status, headers: transfer.head, finalURL: finalURL)
        // Nobody is told of a body that can't be used.
        transfer.verdict = verdict(onLengthOf: response, for: transfer.request)
        guard transfer.verdict == nil else { return false }
        watch(until: deadline(of: transfer))
        transfer.handler?(.response(response, after: transfer.attemptedAt.duration(to: loop.now)))
        return transfer.phase == .running
    }

    /// What is wrong with the announced length: a body that can't be used need not be fetched.
    private func verdict(onLengthOf response: HTTPResponse, for request: HTTPRequest) -> HTTPError? {
        // A compressed body's length says nothing of what it becomes.
        guard let length = response.contentLength, response.header("content-encoding") == nil else { return nil }
        if let expected = request.expectedByteCount, length != expected {
            return .wrongLength(expected: expected, received: length)
        }
        return length > request.maximumByteCount ? .tooLarge(limit: request.maximumByteCount) : nil
    }

    // MARK: - Ends

    /// Takes out what was cancelled meanwhile and ends what libcurl says is done.
    func settle() {
        guard !isShutDownPending else { return cleanUp() }
        for transfer in cancelled { release(transfer) }
        cancelled = []
        let starting = starting
        self.starting = []
        for transfer in starting { begin(transfer) }
        while let (easy, code) = unsafe multi.nextEnded() {
            var context: UnsafeMutableRawPointer?
            unsafe _ = ccurl_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context = unsafe context else { continue }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            unsafe complete(transfer, easy, code)
        }
    }

    private func complete(_ transfer: HTTPTransfer, _ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard transfer.phase == .running else { return }
        if let verdict = transfer.verdict { return fail(transfer, verdict) }
        guard code == CURLE_OK else { return fail(transfer, unsafe error(code, transfer, easy)) }
        // An empty body has not brought the head yet.
        guard unsafe respond(transfer, easy) else {
            if let verdict = transfer.verdict { fail(transfer, verdict) }
            return
        }
        if let expected = transfer.request.expectedByteCount, expected != transfer.received {
            return fail(transfer, .wrongLength(expected: expected, received: transfer.received))
        }
        release(transfer)
        transfers[ObjectIdentifier(transfer)] = nil
        transfer.takeHandler()?(
            .finished(byteCount: transfer.received, duration: transfer.attemptedAt.duration(to: loop.now)))
    }

    private func error(_ code: CURLcode, _ transfer: HTTPTransfer, _ easy: UnsafeMutableRawPointer) -> HTTPError {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            if transfer.hasResponded || !transfer.head.isEmpty { return .redirectRefused }
        case CURLE_TOO_MANY_REDIRECTS: return .redirectRefused
        case CURLE_PARTIAL_FILE: return .truncated(received: transfer.received)
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            if transfer.received > 0 { return .truncated(received: transfer.received) }
        default: break
        }
        return unsafe HTTPError(connecting: code, easy, url: transfer.request.url)
    }

    /// When a running transfer is overdue unless something comes.
    private func deadline(of transfer: HTTPTransfer) -> MonotonicInstant {
        transfer.hasResponded
            ? transfer.activeAt.advanced(by: transfer.request.stallTimeout)
            : transfer.attemptedAt.advanced(by: transfer.request.firstByteTimeout)
    }

    /// Has the watchdog look at `deadline` at the latest. It looks again by itself, so bytes that come cost nothing.
    private func watch(until deadline: MonotonicInstant) {
        if let watchdogDeadline, watchdogDeadline <= deadline { return }
        watchdogDeadline = deadline
        watchdog?.arm(at: deadline)
    }

    /// Ends transfers whose first byte or next byte is overdue.
    private func checkTimeouts() {
        let now = loop.now
        watchdogDeadline = nil
        for transfer in Array(transfers.values) where transfer.phase == .running {
            let deadline = deadline(of: transfer)
            guard deadline <= now else {
                watch(until: deadline)
                continue
            }
            fail(transfer, transfer.hasResponded ? .stalled(received: transfer.received) : .firstByteTimeout)
        }
    }
}
