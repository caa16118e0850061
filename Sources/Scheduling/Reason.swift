/// Why the scheduler decided as it did; the code in the decision log.
public enum Reason: String, Sendable, Codable {
    /// The first bytes of the first segment, so that playback starts without waiting for a peer.
    case startup
    /// No swarm: the viewer fetches as any player does.
    case alone
    /// The segment has no valid record, so it can't be shared.
    case unshared
    /// A stripe that the front or a claim gives to this viewer.
    case front
    /// A stripe whose owner did not show it in time, and this viewer is next.
    case backup
    /// The viewer won the election for the segment.
    case elected
    /// The time left is what the CDN needs.
    case deadline
    /// A peer holds the chunks.
    case peerHolds
    /// A peer has announced that it is fetching the chunks; it sends them as they verify.
    case peerExpects
    /// A peer stalled; the chunks are asked of another.
    case stalled
    /// Played already, or no longer wanted after a seek.
    case unwanted
    /// The CDN brings the chunks now.
    case handedOver
    /// Peers bring sooner what the CDN was asked for.
    case handedBack
    /// The peer stalled too often.
    case unreliable
    /// Another rendition of the segment is wanted.
    case switched
    /// All bytes are there.
    case complete
}
