import Cryptography
import Foundation
import HTTPTransfer

/// The content keys of a playlist, each fetched once. Confined to the session's loop; no key is ever logged.
final class ContentKeyStore {
    private enum Entry {
        case loading
        case ready([UInt8])
    }

    /// Keys that are remembered; the ones asked for first go first. A stream that rotates its keys uses few at a time.
    private static let countLimit = 256
    /// A key resource has 16 or 32 bytes; what is longer is none.
    private static let maximumByteCount = 64

    private let client: HTTPClient
    private let onBytes: (Int, Bool) -> Void
    private let onReady: () -> Void
    private let onFailure: (SessionError) -> Void
    private var entries: [String: Entry] = [:]
    private var order: [String] = []

    /// - Parameters:
    ///   - onBytes: Told of the bytes of each answer, and whether a request began (with 0 bytes).
    ///   - onReady: Called when a key that was asked for is there.
    ///   - onFailure: Called when one can't be had.
    init(
        client: HTTPClient, onBytes: @escaping (Int, Bool) -> Void, onReady: @escaping () -> Void,
        onFailure: @escaping (SessionError) -> Void
    ) {
        self.client = client
        self.onBytes = onBytes
        self.onReady = onReady
        self.onFailure = onFailure
    }

    /// The key at an address; `nil` while it is awaited.
    ///
    /// - Throws: When what is there is no key of `byteCount` bytes.
    func key(at url: String, byteCount: Int) throws(SessionError) -> ContentKey? {
        switch entries[url] {
        case .ready(let bytes):
            guard bytes.count == byteCount, let key = ContentKey(bytes) else {
                throw .contentKey(url: url, reason: "it has \(bytes.count) bytes, and not \(byteCount)")
            }
            return key
        case .loading: return nil
        case nil:
            remember(url)
            guard url.lowercased().hasPrefix("data:") else {
                fetch(url)
                return nil
            }
            guard let bytes = Self.bytes(ofDataURL: url), bytes.count <= Self.maximumByteCount else {
                throw .contentKey(url: "data:", reason: "its address holds no key")
            }
            entries[url] = .ready(bytes)
            return try key(at: url, byteCount: byteCount)
        }
    }

    private func remember(_ url: String) {
        entries[url] = .loading
        order.append(url)
        while order.count > Self.countLimit { entries[order.removeFirst()] = nil }
    }

    private func fetch(_ url: String) {
        var request = HTTPRequest(url: url)
        request.maximumByteCount = Self.maximumByteCount
        request.retry = HTTPRequest.Retry(attempts: 4)
        onBytes(0, true)
        var body: [UInt8] = []
        client.start(request) { [weak self] event in
            guard let self else { return }
            switch event {
            case .response: break
            case .body(let bytes):
                onBytes(bytes.count, false)
                body += bytes
            case .finished:
                // One that went while it was awaited is asked for anew.
                guard case .loading? = entries[url] else { return }
                entries[url] = .ready(body)
                onReady()
            case .failed(.tooLarge):
                onFailure(.contentKey(url: url, reason: "it has more than \(Self.maximumByteCount) bytes"))
            case .failed(let error): onFailure(.unreachable(url: url, error))
            }
        }
    }

    /// The bytes of a `data:` address (RFC 2397).
    private static func bytes(ofDataURL url: String) -> [UInt8]? {
        guard url.utf8.count <= 1024, let comma = url.firstIndex(of: ",") else { return nil }
        let text = String(url[url.index(after: comma)...])
        guard url[..<comma].lowercased().hasSuffix(";base64") else {
            return Percent.decode(text)
        }
        return text.removingPercentEncoding.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }

    private enum Percent {
        /// Undoes percent-encoding, also of bytes that are no text.
        static func decode(_ text: String) -> [UInt8]? {
            var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    bytes.append(byte)
                    continue
                }
                guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
            return bytes
        }
    }
}
