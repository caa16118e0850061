/// One direction of a connection.
struct Flow: BitwiseCopyable, Sendable {
    struct Flags: OptionSet, BitwiseCopyable, Sendable {
        var rawValue: UInt8

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
    }

    var source: Int32
    var target: Int32
    /// Where its stages are, one per hop.
    var firstStage: Int32
    /// Bytes sent and not yet arrived.
    var inFlight: Int32 = 0
    var framesInFlight: Int32 = 0
    /// At most about so many bytes are in flight.
    var window: Float
    /// One-way delay in nanoseconds.
    var delay: Int64
    /// When the next frame may begin, if `pace` is not 0.
    var eligible: Int64 = .min
    /// Nanoseconds per byte that loss allows at best; 0 without loss.
    var pace: Float
    /// Messages that wait at the source: first and last control message, first and last data message.
    var controlHead: Int32 = -1
    var controlTail: Int32 = -1
    var dataHead: Int32 = -1
    var dataTail: Int32 = -1
    /// Bytes that wait at the source.
    var waiting: Int = 0
    /// The other flows of its source, closed ones too while something of them is under way.
    var nextOfSource: Int32 = -1
    var previousOfSource: Int32 = -1
    var hopCount: UInt8
    /// How many of its stages are in a pipe's round.
    var listed: UInt8 = 0
    var flags: Flags
}

/// A flow at one hop of its path: its queue there, and its place in the round robin. At the first hop, the uplink, the flow
/// itself has the queues.
struct Stage: BitwiseCopyable, Sendable {
    var flow: Int32
    var pipe: Int32
    var head: Int32 = -1
    var tail: Int32 = -1
    /// Bytes it may still send in `round`.
    var deficit: Int32 = 0
    /// The round of the pipe for which it has its quantum.
    var round: Int32 = -1
    /// The stage after it in the pipe's list.
    var next: Int32 = -1
    var isListed = false
    var isFirst: Bool
}
