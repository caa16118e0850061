/// What of a segment needn't come from the CDN, at one rung.
public struct SegmentOffer: Sendable, Hashable, Codable {
    /// The share that connected peers hold, or have announced that they are fetching; 0 to 1.
    public var peerShare: Double
    /// The share that is in this viewer's own store; 0 to 1. It takes no time.
    public var storeShare: Double

    public init(peerShare: Double, storeShare: Double = 0) {
        self.peerShare = peerShare
        self.storeShare = storeShare
    }
}
