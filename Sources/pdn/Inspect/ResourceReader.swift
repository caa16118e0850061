import CommandLineSupport
import EventLoop
import Glibc
import HTTPTransfer

/// Reads manifests and what they name, from the network or from files.
struct ResourceReader {
    /// Bytes and where they came from.
    struct Resource: Sendable {
        var bytes: [UInt8]
        /// After redirects.
        var url: String
    }

    /// The reader's own.
    let loop: EventLoop
    /// The most bytes that are taken of a resource.
    private let limit: Int

    /// Makes a reader with a loop of its own; ``close()`` ends it.
    init(limit: Int) throws(CommandFailure) {
        self.limit = limit
        do {
            loop = try EventLoop.startThread(named: "pdn-inspect")
        } catch {
            throw .failed("no event loop: \(error)")
        }
    }

    /// Ends the reader's loop.
    func close() { loop.stop() }

    /// Reads a resource, or a range of it.
    ///
    /// - Parameter location: An http or https URL, a file URL or a path.
    func read(_ location: String, range: Range<UInt64>? = nil) async throws(CommandFailure) -> Resource {
        let scheme = location.prefix(8).lowercased()
        if scheme.hasPrefix("http://") || scheme.hasPrefix("https://") {
            return try await fetch(location, range: range)
        }
        if scheme.hasPrefix("file://") {
            return Resource(bytes: try readFile(String(location.dropFirst(7)), range: range), url: location)
        }
        return Resource(bytes: try readFile(location, range: range), url: Self.fileURL(location))
    }

    private func fetch(_ url: String, range: Range<UInt64>?) async throws(CommandFailure) -> Resource {
        var request = HTTPRequest(url: url)
        request.maximumByteCount = limit
        request.allowsCompression = range == nil
        request.bytes = range.map { .range($0) } ?? .all
        request.retry = HTTPRequest.Retry(attempts: 2)
        let (loop, prepared) = (loop, request)
        let result: Result<Resource, HTTPError> = await withCheckedContinuation { continuation in
            loop.execute {
                // The transfer's handler keeps the client until the end; it goes on the loop's next round.
                let client = HTTPClient(loop: loop)
                var resource = Resource(bytes: [], url: prepared.url)
                var isPartial = false
                client.start(prepared) { event in
                    switch event {
                    case .response(let response, _):
                        resource.url = response.finalURL
                        isPartial = response.status == 206
                    case .body(let bytes): resource.bytes.append(contentsOf: bytes)
                    case .finished:
                        if let range, !isPartial { resource.bytes = Self.cut(resource.bytes, to: range) }
                        client.close()
                        continuation.resume(returning: .success(resource))
                    case .failed(let error):
                        client.close()
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        }
        switch result {
        case .success(let resource): return resource
        case .failure(let error): throw .unreachable("\(url) can't be fetched: \(error)")
        }
    }

    /// Reads a file, one byte more than the limit at most.
    private func readFile(_ path: String, range: Range<UInt64>?) throws(CommandFailure) -> [UInt8] {
        func failure() -> CommandFailure { .unreachable("\(path) can't be read: \(String(cString: strerror(errno)))") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { Glibc.close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { break }
            bytes.append(contentsOf: piece.prefix(count))
        }
        return range.map { Self.cut(bytes, to: $0) } ?? bytes
    }

    private static func cut(_ bytes: [UInt8], to range: Range<UInt64>) -> [UInt8] {
        let end = min(UInt64(bytes.count), range.upperBound)
        guard range.lowerBound < end else { return [] }
        return Array(bytes[Int(range.lowerBound)..<Int(end)])
    }

    /// The URL of a path.
    private static func fileURL(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return "file://" + path }
        defer { free(folder) }
        return "file://\(String(cString: folder))/\(path)"
    }
}
