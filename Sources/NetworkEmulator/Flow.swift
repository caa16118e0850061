/// One direction of a connection: what every message on it needs, in half a cache line, since with many nodes the time per
/// message is the number of lines it touches.
struct Flow: BitwiseCopyable, Sendable {
    struct Flags: OptionSet, BitwiseCopyable, Sendable {
        var rawValue: UInt16

        /// Closed; frames may still be under way.
        static let closed = Flags(rawValue: 1)
        /// Closed because the receiver left: what is under way is lost.
        static let targetIsGone = Flags(rawValue: 2)
        /// Not in its uplink's round, because its window is used up.
        static let waitsForWindow = Flags(rawValue: 4)
        /// Not in its uplink's round, because its rate (loss) does not allow a frame yet.
        static let waitsForPace = Flags(rawValue: 8)
        /// Its window still doubles per round trip.
        static let slowStart = Flags(rawValue: 16)
        /// Closed and drained; its opposite is not yet.
        static let released = Flags(rawValue: 32)
        /// Closed because the sender left, and so in no list of its flows.
        static let sourceIsGone = Flags(rawValue: 64)
        /// Messages may wait at its source.
        static let hasBacklog = Flags(rawValue: 128)
        /// Loss limits its rate.
        static let isPaced = Flags(rawValue: 256)
        /// The owner wants to know when no more than a frame waits at its source.
        static let reportsRoom = Flags(rawValue: 512)
    }

    /// The pipes at its two ends.
    var uplink: Int32
    var downlink: Int32
    /// Where its stages are, one per hop.
    var firstStage: Int32 = -1
    /// Bytes sent and not yet arrived.
    var inFlight: Int32 = 0
    /// At most about so many bytes are in flight.
    var window: Float
    /// One-way delay in nanoseconds.
    var delay: UInt32
    var flags: Flags
    var hopCount: UInt8
    /// How many of its stages are in a pipe's round.
    var listed: UInt8 = 0

    /// The nodes at its two ends: their pipes are those of twice their number.
    var source: Int32 { uplink >> 1 }
    var target: Int32 { downlink >> 1 }
}

/// What a flow has beside ``Flow`` and its stages that few messages need.
struct FlowDetails: BitwiseCopyable, Sendable {
    /// Nanoseconds per byte that loss allows at best; 0 without loss.
    var pace: Float
    /// When the next frame may begin, if `pace` is not 0.
    var eligible: Int64 = .min
    /// The other flows of its source, closed ones too while something of them is under way.
    var nextOfSource: Int32 = -1
    var previousOfSource: Int32 = -1
}

/// A flow at one hop of its path: its queues there, and its place in the round robin.
struct Stage: BitwiseCopyable, Sendable {
    var flow: Int32
    var pipe: Int32
    /// The first and the last frame that wait; at the first hop messages, and those with data only.
    var head: Int32 = -1
    var tail: Int32 = -1
    /// At the first hop, the first and the last control message that wait.
    var controlHead: Int32 = -1
    var controlTail: Int32 = -1
    /// At the first hop, the bytes that wait.
    var waiting: Int = 0
    /// Bytes it may still send in `round`.
    var deficit: Int32 = 0
    /// The round of the pipe for which it has its quantum.
    var round: Int32 = -1
    /// The stage after it in the pipe's list.
    var next: Int32 = -1
    var isListed = false
    var isFirst: Bool
}
