import CoreModel
public import EventLoop
public import HTTPTransfer
public import Manifest

/// Drives a ``LiveFollower``: carries its requests out and wakes it in time. Confined to the loop.
public final class LiveLoader {
    /// What is known of the presentation.
    public private(set) var follower: LiveFollower

    private let loop: EventLoop
    private let client: HTTPClient
    private let onEvent: (LiveEvent) -> Void
    private let onBytes: (Int, Bool) -> Void
    private var timer: LoopTimer?
    private var transfers: [LiveRequest.ID: HTTPTransfer] = [:]
    private var timeQuery: TimeQuery?
    private var isDriving = false
    private var isStopped = false

    /// The most bytes of a manifest or playlist.
    private static let maximumByteCount = 16 << 20

    /// Makes a loader; ``start()`` begins.
    ///
    /// - Parameters:
    ///   - onEvent: Told on the loop of what happens.
    ///   - onBytes: Told of the bytes of each answer, and whether a request began (with 0 bytes).
    public init(
        _ follower: LiveFollower, client: HTTPClient, loop: EventLoop,
        onBytes: @escaping (Int, Bool) -> Void = { _, _ in }, onEvent: @escaping (LiveEvent) -> Void
    ) {
        self.follower = follower
        self.client = client
        self.loop = loop
        self.onEvent = onEvent
        self.onBytes = onBytes
    }

    /// Begins; events may come before this returns.
    public func start() {
        timer = LoopTimer(loop: loop) { [weak self] in self?.feed(.timer) }
        drive()
    }

    /// Ends all requests; no event comes after it.
    public func stop() {
        isStopped = true
        timer = nil
        for transfer in transfers.values { transfer.cancel() }
        transfers = [:]
        timeQuery = nil
    }

    /// Follows one more rendition.
    public func follow(_ id: Rendition.ID) {
        follower.follow(id, now: loop.now)
        drive()
    }

    /// Follows a rendition no more.
    public func unfollow(_ id: Rendition.ID) { follower.unfollow(id) }

    /// Something speaks for a new manifest before its time.
    public func refresh() { feed(.refreshWanted) }

    private func feed(_ input: LiveInput) {
        guard !isStopped else { return }
        follower.handle(input, now: loop.now)
        drive()
    }

    private func drive() {
        // An event may lead back here; the loop that is running goes on.
        guard !isDriving, !isStopped else { return }
        isDriving = true
        defer { isDriving = false }
        while !isStopped {
            switch follower.poll(now: loop.now) {
            case .fetch(let request): begin(request)
            case .event(let event): onEvent(event)
            case .wait(let until):
                if let until { timer?.arm(at: until) }
                return
            }
        }
    }

    private func begin(_ request: LiveRequest) {
        onBytes(0, true)
        if request.method == .ntp {
            timeQuery = TimeQuery(loop: loop, host: request.url) { [weak self] bytes in
                guard let self else { return }
                timeQuery = nil
                feed(
                    bytes.map { .answer(request.id, LiveAnswer(bytes: $0, finalURL: request.url)) }
                        ?? .failed(request.id, isGone: false))
            }
            timeQuery?.start()
            return
        }
        var http = HTTPRequest(url: request.url)
        http.maximumByteCount = Self.maximumByteCount
        http.allowsCompression = true
        http.firstByteTimeout = request.timeout
        http.connectTimeout = min(request.timeout, .seconds(5))
        var answer = LiveAnswer(bytes: [], finalURL: request.url)
        let transfer = client.start(http) { [weak self] event in
            guard let self, !isStopped, transfers[request.id] != nil else { return }
            switch event {
            case .response(let response, _):
                answer.finalURL = response.finalURL
                answer.status = response.status
                answer.date = response.date
                answer.age = response.age
                guard request.method == .head else { return }
                // The head is all that is wanted.
                transfers.removeValue(forKey: request.id)?.cancel()
                feed(.answer(request.id, answer))
            case .body(let bytes):
                onBytes(bytes.count, false)
                answer.bytes += bytes
            case .finished:
                transfers[request.id] = nil
                feed(.answer(request.id, answer))
            case .failed(let error):
                transfers[request.id] = nil
                var isGone = false
                if case .status(let status) = error { isGone = (400..<500).contains(status) }
                feed(.failed(request.id, isGone: isGone))
            }
        }
        transfers[request.id] = transfer
    }
}

/// One request for the time by UDP: RFC 4330.
private final class TimeQuery {
    private let loop: EventLoop
    private let host: String
    private let completion: ([UInt8]?) -> Void
    private let resolver: Resolver
    private var query: Resolver.Query?
    private var socket: UDPSocket?
    private var timer: LoopTimer?
    private var isDone = false

    private static let port: UInt16 = 123
    private static let timeout: Duration = .seconds(4)

    init(loop: EventLoop, host: String, completion: @escaping ([UInt8]?) -> Void) {
        self.loop = loop
        self.host = host
        self.completion = completion
        resolver = Resolver(loop: loop)
    }

    func start() {
        timer = LoopTimer(loop: loop) { [weak self] in self?.finish(nil) }
        timer?.arm(after: Self.timeout)
        query = resolver.resolve(host, port: Self.port) { [weak self] result in
            guard let self, !isDone else { return }
            guard let address = try? result.get().first else { return finish(nil) }
            ask(address)
        }
    }

    private func ask(_ server: NetworkAddress) {
        // Without a socket the next source is tried.
        guard let socket = try? UDPSocket(loop: loop, at: NetworkAddress(ipv4: 0, port: 0)) else { return finish(nil) }
        socket.onDatagram = { [weak self] bytes, sender in
            guard sender == server else { return }
            self?.finish((0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
        }
        self.socket = socket
        if !socket.send(NTPTime.request, to: server) { finish(nil) }
    }

    private func finish(_ bytes: [UInt8]?) {
        guard !isDone else { return }
        isDone = true
        query?.cancel()
        timer = nil
        let socket = socket
        self.socket = nil
        socket?.close()
        completion(bytes)
    }
}
