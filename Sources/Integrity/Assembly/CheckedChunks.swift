/// What a step of a ``SegmentAssembly`` found out about CDN bytes.
public struct CheckedChunks: Hashable, Sendable {
    /// Chunks that match the record: they may be announced and served. Ascending within a stripe.
    public var verified: [Int] = []
    /// Chunks that don't: play them, never share them. Where leaves were unknown this is the whole stripe.
    public var mismatched: [Int] = []

    /// Makes an empty result.
    public init() {}
}

/// Why a list of leaves is refused.
public enum LeafError: Error, Equatable, Sendable {
    /// The segment has no such stripe.
    case noSuchStripe
    /// The stripe has another number of chunks.
    case wrongCount(expected: Int, actual: Int)
    /// The leaves don't give the stripe's hash.
    case mismatch
}

/// Why bytes of a segment are refused.
public enum ChunkError: Error, Equatable, Sendable {
    /// The segment has no such chunk.
    case noSuchChunk
    /// The chunk has another length.
    case wrongLength(expected: Int, actual: Int)
    /// The leaves of the chunk's stripe have to come first.
    case leavesUnknown
    /// The bytes are not the record's.
    case mismatch
    /// The bytes reach beyond the segment's end.
    case outOfBounds

    /// Whether only a dishonest or broken sender causes this.
    public var provesMisconduct: Bool {
        switch self {
        case .noSuchChunk, .wrongLength, .mismatch: true
        case .leavesUnknown, .outOfBounds: false
        }
    }
}
