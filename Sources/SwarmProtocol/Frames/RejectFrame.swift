/// The end of requested chunks without their data.
public struct RejectFrame: Hashable, Sendable {
    /// The request.
    public var id: ChunkRequestID
    /// The chunks that won't come: a run within the request.
    public var chunks: Range<Int>
    /// Why.
    public var reason: RejectReason
    /// When asking again may help; zero when the peer doesn't know.
    public var retryAfter: Duration

    /// Makes the frame.
    public init(id: ChunkRequestID, chunks: Range<Int>, reason: RejectReason, retryAfter: Duration = .zero) {
        self.id = id
        self.chunks = chunks
        self.reason = reason
        self.retryAfter = retryAfter
    }
}
