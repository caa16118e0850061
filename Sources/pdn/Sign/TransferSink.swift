import CoreModel
import HTTPTransfer
import Integrity

/// What becomes of an answer's bytes. Confined to the downloader's loop.
protocol TransferSink: AnyObject {
    /// Whether no more bytes are wanted.
    var isFilled: Bool { get }

    /// Looks at the answer's head.
    func begin(_ response: HTTPResponse)

    /// Takes the next bytes.
    func take(_ bytes: ArraySlice<UInt8>)
}

/// Collects a manifest.
final class DocumentSink: TransferSink {
    private(set) var body: [UInt8] = []
    private(set) var window: RangeWindow

    init(_ range: Range<UInt64>?) { window = RangeWindow(range) }

    var isFilled: Bool { window.isFilled }

    func begin(_ response: HTTPResponse) { window.begin(response) }

    func take(_ bytes: ArraySlice<UInt8>) { body += window.clip(bytes) }
}

/// Hashes a segment without keeping it.
final class TreeSink: TransferSink {
    private(set) var hasher: MerkleHasher
    private(set) var window: RangeWindow
    /// Whether the segment is larger than can be signed.
    private(set) var isTooLarge = false
    /// Bytes that came, wanted or not.
    private(set) var byteCount = 0

    init(_ range: Range<UInt64>?, suite: any CryptoSuite) {
        hasher = MerkleHasher(suite: suite)
        window = RangeWindow(range)
    }

    var isFilled: Bool { isTooLarge || window.isFilled }

    func begin(_ response: HTTPResponse) { window.begin(response) }

    func take(_ bytes: ArraySlice<UInt8>) {
        byteCount += bytes.count
        isTooLarge = !hasher.update(window.clip(bytes))
    }
}
