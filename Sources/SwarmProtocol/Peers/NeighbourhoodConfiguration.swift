internal import CoreModel

/// How a viewer meets other viewers.
public struct NeighbourhoodConfiguration: Hashable, Sendable {
    /// Whether links go to private and loopback addresses only, whoever opens them.
    public var isLocalOnly = false
    /// Whether this side uploads at all. False makes every request be rejected.
    public var uploads = true
    /// The caps on upload. `bytesPerSecond` is the limiter at the socket (`--uplink`).
    public var uploadCaps = UploadCaps()
    /// Bytes per second that are read from peers (`--downlink`); `nil` for no limit.
    public var downloadBytesPerSecond: Double?
    /// Established links. 25 is what the existing systems settled on.
    public var maximumLinkCount = 25
    /// Established links that this side opened; the rest is left for those who open one to it.
    public var maximumOutgoingLinkCount = 20
    /// Links to one /24 or /48, private addresses and loopback exempt: a prefix must not fill the table.
    public var maximumLinkCountPerPrefix = 4
    /// Connections that are being dialled.
    public var maximumDialCount = 8
    /// Incoming connections that have not said hello.
    public var maximumStrangerCount = 32
    /// Peers that are kept in mind as candidates for a link: some more than there can be links.
    public var maximumCandidateCount = 64
    /// When a new link is told of other peers first.
    public var firstExchangeDelay: Duration = .seconds(5)
    /// How often a link is told of other peers, give or take a fifth.
    public var exchangeInterval: Duration = .seconds(180)
    /// How long certificates outlive their end while no tracker answers.
    public var certificateGrace: Duration = .seconds(4 * 3600)
    /// Others' claims that are passed on to a link at once. What is more is dropped: sent, it would use up the link's
    /// gossip points (``LinkConfiguration/gossipBurst``), which this side's own frames need.
    public var relayBurst = 100.0
    /// Others' claims that are passed on to a link each second; well below ``LinkConfiguration/gossipRate``.
    public var relayRate = 16.0
    /// Bytes that may wait in this process for a link's transport: a peer that does not read is dropped.
    public var maximumQueuedByteCount = 512 * 1024
    /// Times and bounds of each link.
    public var link = LinkConfiguration()

    /// Makes the defaults.
    public init() {}
}
