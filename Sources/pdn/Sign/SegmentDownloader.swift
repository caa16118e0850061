import CoreModel
import EventLoop
import HTTPTransfer
import Integrity

/// Fetches manifests and hashes segments as they come, on a loop of its own.
actor SegmentDownloader {
    /// How often a body that broke off is fetched anew.
    private static let attempts = 3
    private static let manifestLimit = 64 << 20

    private let loop: EventLoop
    private let client: HTTPClient
    private let suite: any CryptoSuite
    /// Media bytes received so far.
    private(set) var byteCount = 0
    private var running: [Int: (transfer: HTTPTransfer, continuation: CheckedContinuation<String, any Error>)] = [:]
    private var nextTransfer = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Makes a downloader on a running loop.
    ///
    /// - Parameter connectionCount: Connections to one host at once.
    static func start(
        on loop: EventLoop, connectionCount: Int, suite: any CryptoSuite
    ) async -> SegmentDownloader {
        await withCheckedContinuation { continuation in
            loop.execute {
                continuation.resume(returning: SegmentDownloader(loop, connectionCount: connectionCount, suite: suite))
            }
        }
    }

    /// Runs on the loop.
    private init(_ loop: EventLoop, connectionCount: Int, suite: any CryptoSuite) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionsPerHost = connectionCount
        self.loop = loop
        self.suite = suite
        client = HTTPClient(loop: loop, configuration: configuration)
    }

    /// Ends every transfer and connection.
    func close() {
        cancelAll()
        client.close()
    }

    /// Ends every transfer; who waits for one gets a `CancellationError`.
    func cancelAll() {
        for number in Array(running.keys) { finish(number, .failure(CancellationError())) }
    }

    /// Fetches a manifest, playlist or index.
    ///
    /// - Returns: The body and where it came from after redirects.
    func document(_ resource: SegmentResource) async throws -> (bytes: [UInt8], finalURL: String) {
        var request = request(for: resource)
        request.maximumByteCount = Self.manifestLimit
        request.allowsCompression = resource.byteRange == nil
        let sink = DocumentSink(resource.byteRange)
        let finalURL = try await run(request, into: sink)
        try sink.window.finish()
        return (sink.body, finalURL)
    }

    /// Downloads a segment and computes its tree.
    ///
    /// - Returns: `nil` for a segment that is empty or larger than can be signed.
    func tree(of resource: SegmentResource) async throws -> SegmentTree? {
        var attempt = 1
        while true {
            do {
                return try await downloadTree(of: resource)
            } catch let error as HTTPError where error.brokeOff && attempt < Self.attempts {
                // What failed before the body began was tried again by the client already.
                attempt += 1
                try await Task.sleep(for: .milliseconds(250 << attempt))
            }
        }
    }

    private func downloadTree(of resource: SegmentResource) async throws -> SegmentTree? {
        var request = request(for: resource)
        request.maximumByteCount = .max
        let sink = TreeSink(resource.byteRange, suite: suite)
        defer { byteCount += sink.byteCount }
        _ = try await run(request, into: sink)
        guard !sink.isTooLarge else { return nil }
        try sink.window.finish()
        return sink.hasher.finish()
    }

    private func request(for resource: SegmentResource) -> HTTPRequest {
        var request = HTTPRequest(url: resource.url)
        if let range = resource.byteRange { request.bytes = .range(range) }
        request.stallTimeout = .seconds(15)
        request.firstByteTimeout = .seconds(30)
        request.retry = HTTPRequest.Retry(attempts: 4)
        return request
    }

    /// Runs a transfer to its end, or until the sink has enough.
    ///
    /// - Returns: Where the answer came from.
    private func run(_ request: HTTPRequest, into sink: any TransferSink) async throws -> String {
        let number = nextTransfer
        nextTransfer += 1
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
                var finalURL = request.url
                // Formed here, the handler is the actor's own code: the client calls it on the actor's loop.
                let transfer = client.start(request) { event in
                    switch event {
                    case .response(let response, _):
                        finalURL = response.finalURL
                        sink.begin(response)
                        if sink.isFilled { self.finish(number, .success(finalURL)) }
                    case .body(let bytes):
                        sink.take(bytes)
                        if sink.isFilled { self.finish(number, .success(finalURL)) }
                    case .finished: self.finish(number, .success(finalURL))
                    case .failed(let error): self.finish(number, .failure(error))
                    }
                }
                running[number] = (transfer, continuation)
            }
        } onCancel: {
            Task { await self.finish(number, .failure(CancellationError())) }
        }
    }

    /// Ends a transfer, if it has not ended, and tells who waits for it.
    private func finish(_ number: Int, _ result: Result<String, any Error>) {
        guard let entry = running.removeValue(forKey: number) else { return }
        entry.transfer.cancel()
        entry.continuation.resume(with: result)
    }
}

extension HTTPError {
    /// Whether the body began and did not come to its end.
    fileprivate var brokeOff: Bool {
        switch self {
        case .stalled, .truncated: true
        case .invalidURL, .resolve, .refused, .connect, .tls, .firstByteTimeout, .status, .wrongLength, .tooLarge,
            .redirectRefused, .other:
            false
        }
    }
}
