internal import CoreModel

/// A request of the other side that has not ended.
struct IncomingRequest: Sendable {
    let id: ChunkRequestID
    let root: Digest
    let first: Int
    /// Chunks whose availability has not been asked for yet.
    var fresh: ChunkBits
    /// Chunks that were available when last asked for.
    var ready: ChunkBits = .none
    /// Chunks that are expected.
    var standing: ChunkBits = .none
    /// Stripes, counted from the first chunk's, whose leaves go before their first chunk.
    var leavesOwed: ChunkBits
    /// When the time left is over.
    let deadline: MonotonicInstant

    init(_ request: ChunkRequest, now: MonotonicInstant) {
        id = request.id
        root = request.root
        first = request.chunks.lowerBound
        fresh = ChunkBits(count: request.chunks.count)
        leavesOwed = request.wantsLeaves ? ChunkBits(count: request.chunks.stripes.count) : .none
        deadline = now.advanced(by: request.timeLeft)
    }

    /// Chunks that have not ended.
    var outstanding: ChunkBits { fresh.union(ready).union(standing) }

    /// The bit of the stripe of `chunk` in ``leavesOwed``.
    func stripeBit(ofChunk chunk: Int) -> Int {
        chunk / SegmentGeometry.chunksPerStripe - first / SegmentGeometry.chunksPerStripe
    }
}
