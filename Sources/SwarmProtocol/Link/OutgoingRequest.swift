internal import CoreModel

/// A request of this side that has not ended.
struct OutgoingRequest: Sendable {
    enum Phase { case open, cancelled, timedOut }

    let id: ChunkRequestID
    let root: Digest
    let first: Int
    /// Chunks that neither came nor were rejected.
    var outstanding: ChunkBits
    /// Stripes, counted from the first chunk's, whose leaves must come before a chunk of theirs may.
    var leavesExpected: ChunkBits
    var phase = Phase.open
    /// When the time left is over; later, when the link ends if the request hasn't.
    var deadline: MonotonicInstant

    init(_ request: ChunkRequest, now: MonotonicInstant) {
        id = request.id
        root = request.root
        first = request.chunks.lowerBound
        outstanding = ChunkBits(count: request.chunks.count)
        let stripes = request.chunks.stripes
        leavesExpected = request.wantsLeaves ? ChunkBits(count: stripes.count) : .none
        deadline = now.advanced(by: request.timeLeft)
    }

    /// The bit of `stripe` in ``leavesExpected``.
    func bit(ofStripe stripe: Int) -> Int { stripe - first / SegmentGeometry.chunksPerStripe }
}

extension Range<Int> {
    /// The stripes that these chunks touch.
    var stripes: Range<Int> {
        lowerBound / SegmentGeometry.chunksPerStripe..<(upperBound - 1) / SegmentGeometry.chunksPerStripe + 1
    }
}
