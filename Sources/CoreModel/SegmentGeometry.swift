/// How a segment of a given size is cut into chunks and stripes.
///
/// A chunk (16 KiB) is what peers exchange and verify; a stripe (128 KiB, eight chunks) is what a CDN range is made of
/// and what the tree layer that travels with a record proves. The last of each may be shorter.
public struct SegmentGeometry: Hashable, Sendable {
    /// Bytes in a chunk: the block of a BEP 52 tree.
    public static let chunkByteCount = 16 * 1024
    /// Chunks in a stripe.
    public static let chunksPerStripe = 8
    /// Bytes in a stripe.
    public static let stripeByteCount = chunkByteCount * chunksPerStripe
    /// The largest segment that can be signed and shared.
    public static let maximumByteCount = 64 * 1024 * 1024

    /// The segment's size in bytes; 1 to ``maximumByteCount``.
    public let byteCount: Int

    /// Describes a segment; `nil` when `byteCount` is outside 1 to ``maximumByteCount``.
    public init?(byteCount: Int) {
        guard (1...Self.maximumByteCount).contains(byteCount) else { return nil }
        self.byteCount = byteCount
    }

    /// The number of chunks.
    public var chunkCount: Int { (byteCount + Self.chunkByteCount - 1) / Self.chunkByteCount }

    /// The number of stripes.
    public var stripeCount: Int { (byteCount + Self.stripeByteCount - 1) / Self.stripeByteCount }

    /// All chunks.
    public var chunks: Range<Int> { 0..<chunkCount }

    /// The bytes of one chunk.
    ///
    /// - Precondition: `chunk` is in ``chunks``.
    public func byteRange(ofChunk chunk: Int) -> Range<Int> {
        precondition(chunks.contains(chunk), "chunk \(chunk) of \(chunkCount)")
        return chunk * Self.chunkByteCount..<min(byteCount, (chunk + 1) * Self.chunkByteCount)
    }

    /// The bytes of a run of chunks.
    ///
    /// - Precondition: `range` lies within ``chunks``.
    public func byteRange(ofChunks range: Range<Int>) -> Range<Int> {
        precondition(range.lowerBound >= 0 && range.upperBound <= chunkCount, "chunks \(range) of \(chunkCount)")
        return min(
            byteCount, range.lowerBound * Self.chunkByteCount)..<min(
                byteCount, range.upperBound * Self.chunkByteCount)
    }

    /// The chunks of one stripe.
    ///
    /// - Precondition: `stripe` is less than ``stripeCount``.
    public func chunkRange(ofStripe stripe: Int) -> Range<Int> {
        precondition(stripe >= 0 && stripe < stripeCount, "stripe \(stripe) of \(stripeCount)")
        return stripe * Self.chunksPerStripe..<min(chunkCount, (stripe + 1) * Self.chunksPerStripe)
    }

    /// The stripe that holds a chunk.
    public func stripe(ofChunk chunk: Int) -> Int { chunk / Self.chunksPerStripe }

    /// The smallest run of whole stripes, as chunks, that covers a run of chunks.
    public func stripeAligned(_ range: Range<Int>) -> Range<Int> {
        let lower = range.lowerBound / Self.chunksPerStripe * Self.chunksPerStripe
        let upper = (range.upperBound + Self.chunksPerStripe - 1) / Self.chunksPerStripe * Self.chunksPerStripe
        return lower..<min(chunkCount, upper)
    }
}
