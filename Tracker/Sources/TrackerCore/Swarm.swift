internal import CoreModel

/// The viewers of one stream.
struct Swarm: Sendable {
    let stream: StreamID
    let secret: [UInt8]
    var members: [ConnectionKey: Member] = [:]
    /// The front that was last named to each cohort member, and until when it holds.
    var frontMembers: [PeerID] = []
    var frontGeneration: UInt64 = 0
    var frontUntil = MonotonicInstant.origin
    /// Something changed that the front may depend on.
    var isFrontStale = false
    var frontSentAt = MonotonicInstant(nanoseconds: .min / 2)
    /// Totals of members that have left.
    var leftBytesFromCDN: UInt64 = 0
    var leftBytesFromPeers: UInt64 = 0
}
