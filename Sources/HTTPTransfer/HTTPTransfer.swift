internal import CCurl
internal import CCurlShims
internal import CoreModel
internal import EventLoop

/// One transfer of an ``HTTPClient``. Confined to the client's loop; releasing it does not end it.
@safe public final class HTTPTransfer {
    /// The request.
    public let request: HTTPRequest

    enum Phase { case waiting, running, done }

    unowned let client: HTTPClient  // The client keeps its transfers and outlives them.
    /// Who is told; let go at the end, so that owners may hold the transfer and be held by the handler.
    private(set) var handler: ((HTTPEvent) -> Void)?
    var phase = Phase.waiting
    /// libcurl's handle while the transfer runs.
    var easy: UnsafeMutableRawPointer?
    var headerList: UnsafeMutablePointer<curl_slist>?
    var attempt = 1
    var startedAt = MonotonicInstant.origin
    var attemptedAt = MonotonicInstant.origin
    var activeAt = MonotonicInstant.origin
    var received = 0
    /// Header lines of the answer that is being read; a redirect starts anew.
    var head: [(name: String, value: String)] = []
    var headByteCount = 0
    var hasResponded = false
    /// Why the write callback ended the transfer.
    var verdict: HTTPError?
    var retryTimer: LoopTimer?

    init(request: HTTPRequest, client: HTTPClient, handler: @escaping (HTTPEvent) -> Void) {
        self.request = request
        self.client = client
        self.handler = handler
    }

    /// Lets the handler go, and returns it for the last event.
    @discardableResult
    func takeHandler() -> ((HTTPEvent) -> Void)? {
        defer { handler = nil }
        return handler
    }

    /// Body bytes delivered so far.
    public var receivedByteCount: Int { received }

    /// Ends the transfer; no event comes after it. Harmless when it has ended.
    public func cancel() {
        // One that has ended may outlive the client.
        guard phase != .done else { return }
        client.cancel(self)
    }
}
