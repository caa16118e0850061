/// Something that passes frames on at a rate: an uplink, a downlink, one direction of a shared link.
struct Pipe: BitwiseCopyable, Sendable {
    /// Infinite when it stands still, 0 when it is no limit.
    var nanosecondsPerByte: Double
    /// When the frame that it passes on is through; `Int64.max` when it stands still in the middle of it.
    var busyUntil: Int64 = .min
    /// Bytes that began to pass.
    var carried: UInt64 = 0
    /// The frame that it passes on: at an uplink valid until `busyUntil`, elsewhere -1 when there is none.
    var current: Int32 = -1
    /// Whether an event is pending for `busyUntil`. Events at other times are out of date.
    var isScheduled = false
    /// Whether no stage is in its round.
    var isRoundEmpty = true
    var isUplink: Bool

    init(bitsPerSecond: Double, isUplink: Bool) {
        nanosecondsPerByte = Self.nanosecondsPerByte(bitsPerSecond)
        self.isUplink = isUplink
    }

    /// Nanoseconds that `byteCount` bytes take, rounded up so that rounding never exceeds the rate.
    func duration(_ byteCount: Int32) -> Int64 { Int64((Double(byteCount) * nanosecondsPerByte).rounded(.up)) }

    static func nanosecondsPerByte(_ bitsPerSecond: Double) -> Double {
        precondition(bitsPerSecond >= 0, "a rate is negative")
        // Under a bit in a thousand seconds nothing moves, and times stay within 64 bits.
        return bitsPerSecond < 1e-3 ? .infinity : 8e9 / bitsPerSecond
    }
}

/// What a pipe has beside ``Pipe`` that isn't needed while it is idle: its round robin.
struct Round: BitwiseCopyable, Sendable {
    /// Stages that have a part of this round's quantum left and just got something to send, then all others.
    var newHead: Int32 = -1
    var newTail: Int32 = -1
    var oldHead: Int32 = -1
    var oldTail: Int32 = -1
    /// The number of the round.
    var round: Int32 = 0
    /// Bytes that were left of the pipe's current frame when it came to stand still.
    var left: Float = 0
    /// Bytes of acknowledgements that came while the pipe was busy and go out before its next frame.
    var owed: Float = 0
}
