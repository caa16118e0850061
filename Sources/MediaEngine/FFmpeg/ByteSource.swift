/// Where a ``Demuxer`` gets its bytes from. Called on the thread that demuxes.
class ByteSource {
    /// What a read gave.
    enum Result {
        case bytes(Int)
        /// No byte follows.
        case end
        /// The reader is to give up: a seek or the end of the engine.
        case cancelled
    }

    /// Whether ``seek(to:whence:)`` works.
    var isSeekable: Bool { false }

    /// Copies what is there into `target`, at least one byte, waiting for it if need be.
    func read(into target: UnsafeMutableRawBufferPointer) -> Result { .end }

    /// Moves to an offset as `fseek` does, or tells the size for AVSEEK_SIZE; nil when that can't be.
    func seek(to offset: Int64, whence: Int32) -> Int64? { nil }
}

/// A whole file in memory, for containers that must be read in another order than they are stored.
final class MemorySource: ByteSource {
    private let bytes: [UInt8]
    private var offset = 0
    private let isCancelled: () -> Bool

    init(_ bytes: [UInt8], isCancelled: @escaping () -> Bool) {
        self.bytes = bytes
        self.isCancelled = isCancelled
    }

    override var isSeekable: Bool { true }

    override func read(into target: UnsafeMutableRawBufferPointer) -> Result {
        if isCancelled() { return .cancelled }
        let count = min(target.count, bytes.count - offset)
        guard count > 0 else { return .end }
        unsafe bytes.withUnsafeBytes { source in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset..<offset + count]))
        }
        offset += count
        return .bytes(count)
    }

    override func seek(to target: Int64, whence: Int32) -> Int64? {
        let origin: Int
        switch whence & ~Self.forceFlag {
        case Self.sizeRequest: return Int64(bytes.count)
        case 0: origin = 0
        case 1: origin = offset
        case 2: origin = bytes.count
        default: return nil
        }
        let (sum, overflow) = Int64(origin).addingReportingOverflow(target)
        guard !overflow, sum >= 0, sum <= Int64(bytes.count) else { return nil }
        offset = Int(sum)
        return sum
    }

    /// AVSEEK_SIZE and AVSEEK_FORCE.
    private static let sizeRequest: Int32 = 0x10000
    private static let forceFlag: Int32 = 0x20000
}
