public import CoreModel

/// A message between two peers on an established link.
public enum Frame: Hashable, Sendable {
    /// The first frame of each side.
    case hello(HelloFrame)
    /// What the sender holds; changes only.
    case have([HaveEntry])
    /// A CDN fetch in flight, its own or another peer's.
    case claim(ClaimFrame)
    /// Asks for the signed record of a name.
    case recordRequest(RecordRequestID, SegmentName)
    /// Answers with the signed segment's bytes; empty when the sender has none.
    case record(RecordRequestID, ArraySlice<UInt8>)
    /// The leaf hashes of a stripe.
    case leaves(LeavesFrame)
    /// Asks for chunks.
    case request(ChunkRequest)
    /// One chunk.
    case data(DataFrame)
    /// Requested chunks that won't come.
    case reject(RejectFrame)
    /// A request whose chunks are not wanted any more.
    case cancel(ChunkRequestID)
    /// New requests will be rejected for the given time.
    case choke(retryAfter: Duration)
    /// Requests are welcome again.
    case unchoke
    /// Other peers of the swarm.
    case peers([PeerEntry])
    /// Asks for a pong with the same number.
    case ping(UInt32)
    /// Answers a ping.
    case pong(UInt32)
    /// The last frame.
    case bye(ByeCode)

    /// The type byte.
    public var type: FrameType {
        switch self {
        case .hello: .hello
        case .have: .have
        case .claim: .claim
        case .recordRequest: .recordRequest
        case .record: .record
        case .leaves: .leaves
        case .request: .request
        case .data: .data
        case .reject: .reject
        case .cancel: .cancel
        case .choke: .choke
        case .unchoke: .unchoke
        case .peers: .peers
        case .ping: .ping
        case .pong: .pong
        case .bye: .bye
        }
    }
}
