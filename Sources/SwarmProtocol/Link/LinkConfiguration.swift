/// Times and bounds of a link that are a side's own choice.
public struct LinkConfiguration: Hashable, Sendable {
    /// From the first byte to both hellos; shorter than a SYN retry, longer than three round trips to the other side of
    /// the world.
    public var handshakeTimeout: Duration = .seconds(5)
    /// Silence after which the initiator pings; the responder waits a third longer, so that one of them does it.
    public var pingInterval: Duration = .seconds(30)
    /// Silence that ends a link.
    public var silenceTimeout: Duration = .seconds(90)
    /// Past its time, a request must have ended within this, or the link ends.
    public var answerGrace: Duration = .seconds(10)
    /// How long a record is waited for.
    public var recordTimeout: Duration = .seconds(5)
    /// Chunks that this side lets be outstanding at the other, and queues for it: 256 chunks are 4 MiB, two seconds at
    /// 16 Mbps.
    public var chunkLimit = 256
    /// Requests in each direction that have not ended.
    public var requestLimit = 64
    /// Record requests that have not been answered.
    public var recordLimit = 32
    /// Points of gossip that a link may burn at once; see ``PeerLink`` for what costs how much.
    public var gossipBurst = 400.0
    /// Points of gossip that come back each second.
    public var gossipRate = 100.0
    /// Bytes of control frames that wait for the transport; more means that the peer does not read.
    public var controlByteLimit = 256 * 1024

    /// Makes the defaults.
    public init() {}
}
