public import CoreModel

/// A request for a run of chunks of one segment.
public struct ChunkRequest: Hashable, Sendable {
    /// The asking side's number.
    public var id: ChunkRequestID
    /// The segment's root.
    public var root: Digest
    /// The chunks: 1 to ``WireLimits/requestChunkCount``.
    public var chunks: Range<Int>
    /// How long the answer is of use.
    public var timeLeft: Duration
    /// Whether the leaf hashes of each stripe go before its first chunk.
    public var wantsLeaves: Bool

    /// Makes the request.
    public init(id: ChunkRequestID, root: Digest, chunks: Range<Int>, timeLeft: Duration, wantsLeaves: Bool) {
        self.id = id
        self.root = root
        self.chunks = chunks
        self.timeLeft = timeLeft
        self.wantsLeaves = wantsLeaves
    }
}
