/// A message that waits to be sent, or a piece of one on its way.
struct Frame: BitwiseCopyable, Sendable {
    struct Flags: OptionSet, BitwiseCopyable, Sendable {
        var rawValue: UInt8

        /// The end of its message.
        static let last = Flags(rawValue: 1)
        /// Its arrival is news even when it is not the end.
        static let reported = Flags(rawValue: 2)
        /// Taken back while it waited at its source.
        static let cancelled = Flags(rawValue: 4)
        /// It waits at its source, so that it can be cancelled.
        static let waiting = Flags(rawValue: 8)
        /// An event will take it to the hop after the uplink, at `arrival`.
        static let onWire = Flags(rawValue: 16)
    }

    var payload: UInt64
    /// When its last byte is at the next hop; later, when it would have arrived had it never waited.
    var arrival: Int64 = 0
    /// Nanoseconds from its first to its last byte, on the slowest link so far.
    var span: Float = 0
    var flow: Int32
    var byteCount: Int32
    /// The one behind it in its queue, or among the free ones.
    var next: Int32 = -1
    var generation: UInt32 = 0
    /// The hop of its path that it is at.
    var hop: UInt8 = 0
    var flags: Flags
}
