/// A node of the network: its link, where it is, and what is between it and the others.
public struct NodeConfiguration: Hashable, Sendable {
    /// Bits per second it can send; infinite where something else is the limit, 0 while it can't.
    public var uplinkBitsPerSecond: Double
    /// Bits per second it can receive; infinite where something else is the limit, 0 while it can't.
    public var downlinkBitsPerSecond: Double
    /// Its own part of the one-way delay to anybody outside its site. Delays of more than four seconds in all count as four.
    public var accessDelay: Duration
    /// Its row in ``NetworkConfiguration/regionDelays``.
    public var region: Int
    /// The share of packets that its link loses.
    public var loss: Double
    /// The address translation that it is behind.
    public var natType: NATType
    /// The shared link that its own link ends in; `nil` where its link goes straight to the backbone.
    public var sharedLink: SharedLinkID?

    /// Makes a node at the backbone, with a link of its own.
    public init(
        uplinkBitsPerSecond: Double, downlinkBitsPerSecond: Double, accessDelay: Duration = .zero, region: Int = 0,
        loss: Double = 0, natType: NATType = NATType(rawValue: 0), sharedLink: SharedLinkID? = nil
    ) {
        self.uplinkBitsPerSecond = uplinkBitsPerSecond
        self.downlinkBitsPerSecond = downlinkBitsPerSecond
        self.accessDelay = accessDelay
        self.region = region
        self.loss = loss
        self.natType = natType
        self.sharedLink = sharedLink
    }

    /// A CDN: reached by everybody, sends at most `bitsPerSecond` to all viewers together, `latency` away from the backbone.
    public static func contentDeliveryNetwork(
        bitsPerSecond: Double, latency: Duration, region: Int = 0
    ) -> NodeConfiguration {
        NodeConfiguration(
            uplinkBitsPerSecond: bitsPerSecond, downlinkBitsPerSecond: .infinity, accessDelay: latency, region: region)
    }
}
