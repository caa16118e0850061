public import CoreModel

/// What a link tells its driver.
public enum LinkEvent: Sendable {
    /// The other side has proved that it owns the key and showed a certificate. Answer with ``PeerLink/admit(now:)`` or
    /// ``PeerLink/refuse(_:now:)`` at once: until then the link stands still.
    case candidate(PeerID, certificate: [UInt8])
    /// Both sides have said hello.
    case established(PeerID, HelloFrame)
    /// The peer's holdings changed.
    case have([HaveEntry])
    /// A claim arrived. Neither its certificate nor its signature has been checked.
    case claim(ClaimFrame)
    /// The peer asks for a record: answer with ``PeerLink/answerRecord(_:with:)``.
    case recordRequested(RecordRequestID, SegmentName)
    /// A record request ended; `nil` when the peer has none or took too long. The bytes have not been checked.
    case record(RecordRequestID, ArraySlice<UInt8>?)
    /// The leaf hashes of a stripe, asked for with a request. They have not been checked.
    case leaves(root: Digest, stripe: Int, [Digest])
    /// A requested chunk, also of a request that was cancelled or timed out. It has not been checked.
    case chunk(ChunkRequestID, root: Digest, chunk: Int, payload: ArraySlice<UInt8>)
    /// Chunks of a request that won't come; not told of requests that were cancelled or timed out.
    case rejected(ChunkRequestID, root: Digest, chunks: Range<Int>, RejectReason, retryAfter: Duration)
    /// The time of a request ran out with these chunks missing; they may still come.
    case requestTimedOut(ChunkRequestID, root: Digest, chunks: [Range<Int>])
    /// The peer won't answer new requests for a while.
    case choked(retryAfter: Duration)
    /// The peer answers requests again.
    case unchoked
    /// Other peers of the swarm. Their certificates have not been checked.
    case peers([PeerEntry])
    /// The time from a ping to its pong.
    case roundTrip(Duration)
    /// The link is over: close the connection once what was transmitted is out. The last event.
    case closed(LinkEnd)
}
