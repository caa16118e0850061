internal import CoreModel

/// A request to a peer that has not been answered in full.
struct PeerRequest: Sendable {
    let id: RequestID
    let peer: PeerKey
    let segment: SegmentID
    /// Chunks not answered yet.
    var open: ChunkSet
    /// The chunks were only expected by the peer when it was asked.
    let isStanding: Bool
}

/// A transfer from the CDN under way.
struct CDNTransfer: Sendable {
    let id: TransferID
    let segment: SegmentID
    /// The chunks asked for, or those that come for them; `nil` for the whole segment.
    var chunks: Range<Int>?
    /// Chunks that have come in.
    var arrived = 0
    /// Bytes that have come in, of chunks that are not whole too. Negative when what comes begins before the segment.
    var receivedByteCount = 0
    /// Whether the CDN has begun to answer.
    var hasResponded = false

    /// The chunk that is being brought, of these that the transfer brings: one before them where what comes begins before.
    func position(in chunks: Range<Int>) -> Int {
        let size = SegmentGeometry.chunkByteCount
        return chunks.lowerBound
            + (receivedByteCount < 0 ? (receivedByteCount + 1) / size - 1 : receivedByteCount / size)
    }
}
