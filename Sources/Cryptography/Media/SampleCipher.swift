/// Decrypts samples of common encryption: ISO/IEC 23001-7, sections 9 and 10.
public final class SampleCipher {
    /// A protection scheme.
    public enum Scheme: String, Sendable {
        /// Counter mode, over all bytes.
        case cenc
        /// CBC over whole blocks.
        case cbc1
        /// Counter mode over whole blocks, in a pattern.
        case cens
        /// CBC in a pattern of blocks, begun anew in each range.
        case cbcs

        var isCounter: Bool { self == .cenc || self == .cens }
    }

    /// Blocks of 16 bytes that are encrypted, and those that are left clear behind them; none of the latter means all are
    /// encrypted.
    public struct Pattern: Hashable, Sendable {
        public var encrypted: Int
        public var clear: Int

        /// Makes a pattern.
        public init(encrypted: Int = 0, clear: Int = 0) {
            self.encrypted = encrypted
            self.clear = clear
        }

        /// Every block.
        public static let all = Pattern()
    }

    private let scheme: Scheme
    private let context: CipherContext

    /// Sets the key up; `nil` unless it has 16 bytes.
    public init?(_ scheme: Scheme, key: ContentKey) {
        guard key.byteCount == 16 else { return nil }
        self.scheme = scheme
        context = CipherContext(scheme.isCounter ? .ctr : .cbc, key: key)
    }

    /// Decrypts a sample in place.
    ///
    /// - Parameters:
    ///   - vector: 8 or 16 bytes; a shorter one is filled with zeros at its end.
    ///   - ranges: The protected bytes, by their distance from the sample's first; in order, within it.
    public func decrypt(_ sample: inout [UInt8], vector: [UInt8], ranges: [Range<Int>], pattern: Pattern = .all) {
        let vector = Array((vector + [UInt8](repeating: 0, count: 16)).prefix(16))
        let pieces = ranges.flatMap { range in
            Self.pieces(of: range, pattern: pattern, wholeBlocks: scheme != .cenc).map { (range.lowerBound, $0) }
        }
        unsafe sample.withUnsafeMutableBytes { bytes in
            var begun: Int?
            var counted = 0
            for (start, piece) in pieces {
                precondition(piece.lowerBound >= 0 && piece.upperBound <= bytes.count, "a range outside of the sample")
                if begun == nil || scheme == .cbcs && begun != start { context.begin(vector) }
                begun = start
                let memory = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[piece])
                if scheme.isCounter {
                    unsafe count(memory, from: &counted, vector)
                } else {
                    unsafe context.decrypt(memory)
                }
            }
        }
    }

    /// Counter mode. Of the counter block the last eight bytes count and never carry over (section 9.1), unlike
    /// libcrypto's, which counts in all sixteen.
    private func count(_ bytes: UnsafeMutableRawBufferPointer, from counted: inout Int, _ vector: [UInt8]) {
        let low = vector[8...].reduce(0) { $0 << 8 | UInt64($1) }
        // Bytes until the counter starts again at 0; out of reach for most.
        let (blocks, isFar) = (~low).multipliedReportingOverflow(by: 16)
        let border = isFar || blocks > UInt64(Int.max - 16) ? Int.max : Int(blocks) + 16
        defer { counted += bytes.count }
        guard counted < border, counted + bytes.count > border else {
            return unsafe context.decrypt(bytes)
        }
        let split = border - counted
        unsafe context.decrypt(UnsafeMutableRawBufferPointer(rebasing: bytes[..<split]))
        context.begin(Array(vector[..<8]) + [UInt8](repeating: 0, count: 8))
        unsafe context.decrypt(UnsafeMutableRawBufferPointer(rebasing: bytes[split...]))
    }

    /// The encrypted bytes of a protected range.
    private static func pieces(of range: Range<Int>, pattern: Pattern, wholeBlocks: Bool) -> [Range<Int>] {
        let size = CipherContext.blockByteCount
        guard pattern.clear > 0, pattern.encrypted > 0 else {
            let count = wholeBlocks ? range.count / size * size : range.count
            return count > 0 ? [range.lowerBound..<range.lowerBound + count] : []
        }
        var pieces: [Range<Int>] = []
        var start = range.lowerBound
        while start < range.upperBound {
            // A block that isn't whole stays clear in a pattern.
            let count = min(pattern.encrypted * size, (range.upperBound - start) / size * size)
            guard count > 0 else { break }
            pieces.append(start..<start + count)
            start += count + pattern.clear * size
        }
        return pieces
    }
}
