/// A link that several nodes share.
public struct SharedLinkConfiguration: Hashable, Sendable {
    /// What becomes of traffic between two nodes behind it.
    public enum Kind: Hashable, Sendable {
        /// An access or aggregation link: their traffic goes up and comes down through it like any other.
        case access
        /// The network of a site: their traffic stays inside, shares `bitsPerSecond` (infinite for a switched network) and
        /// takes `delay` one way.
        case site(bitsPerSecond: Double, delay: Duration)
    }

    /// Whether traffic between two nodes behind it turns round before it.
    public var kind: Kind
    /// Bits per second from the nodes behind it to the backbone.
    public var uplinkBitsPerSecond: Double
    /// Bits per second from the backbone to the nodes behind it.
    public var downlinkBitsPerSecond: Double
    /// The shared link that this one ends in, if it doesn't end at the backbone; at most ``maximumDepth`` behind each other.
    public var parent: SharedLinkID?

    /// So many shared links can be behind each other.
    public static let maximumDepth = 4

    /// Makes a shared link.
    public init(
        kind: Kind, uplinkBitsPerSecond: Double, downlinkBitsPerSecond: Double, parent: SharedLinkID? = nil
    ) {
        self.kind = kind
        self.uplinkBitsPerSecond = uplinkBitsPerSecond
        self.downlinkBitsPerSecond = downlinkBitsPerSecond
        self.parent = parent
    }
}
