/// Something that passes frames on at a rate: an uplink, a downlink, one direction of a shared link.
struct Pipe: BitwiseCopyable, Sendable {
    /// Infinite when it stands still, 0 when it is no limit.
    var nanosecondsPerByte: Double
    /// When the frame that it passes on is through; `Int64.max` when it stands still in the middle of it.
    var busyUntil: Int64 = .min
    /// When its pending event is due; `Int64.min` without one. Events at other times are out of date.
    var scheduled: Int64 = .min
    /// Bytes that began to pass.
    var carried: UInt64 = 0
    /// Bytes that were left of the current frame when it came to stand still.
    var left: Float = 0
    /// The frame that it passes on: at an uplink valid until `busyUntil`, elsewhere -1 when there is none.
    var current: Int32 = -1
    /// The number of the round.
    var round: Int32 = 0
    /// Stages that have a part of this round's quantum left and just got something to send, then all others.
    var newHead: Int32 = -1
    var newTail: Int32 = -1
    var oldHead: Int32 = -1
    var oldTail: Int32 = -1
    var isUplink: Bool

    init(bitsPerSecond: Double, isUplink: Bool) {
        nanosecondsPerByte = Self.nanosecondsPerByte(bitsPerSecond)
        self.isUplink = isUplink
    }

    var isRoundEmpty: Bool { newHead < 0 && oldHead < 0 }

    /// Nanoseconds that `byteCount` bytes take, rounded up so that rounding never exceeds the rate.
    func duration(_ byteCount: Int32) -> Int64 { Int64((Double(byteCount) * nanosecondsPerByte).rounded(.up)) }

    static func nanosecondsPerByte(_ bitsPerSecond: Double) -> Double {
        precondition(bitsPerSecond >= 0, "a rate is negative")
        // Under a bit in a thousand seconds nothing moves, and times stay within 64 bits.
        return bitsPerSecond < 1e-3 ? .infinity : 8e9 / bitsPerSecond
    }
}
