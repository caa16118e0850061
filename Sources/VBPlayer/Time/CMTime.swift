#if !canImport(CoreMedia)

    /// The numerator of a ``CMTime``.
    public typealias CMTimeValue = Int64
    /// The denominator of a ``CMTime``: ticks in a second.
    public typealias CMTimeScale = Int32
    /// Which run through a timeline a ``CMTime`` belongs to.
    public typealias CMTimeEpoch = Int64

    /// What a ``CMTime`` is besides its numbers.
    public struct CMTimeFlags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The time is one; without it every other field is without meaning.
        public static let valid = CMTimeFlags(rawValue: 1 << 0)
        /// Some operation on the way here could not be exact.
        public static let hasBeenRounded = CMTimeFlags(rawValue: 1 << 1)
        /// Later than every number.
        public static let positiveInfinity = CMTimeFlags(rawValue: 1 << 2)
        /// Earlier than every number.
        public static let negativeInfinity = CMTimeFlags(rawValue: 1 << 3)
        /// A time that is not known, such as the duration of a live stream.
        public static let indefinite = CMTimeFlags(rawValue: 1 << 4)
        /// The flags that stand in place of a number.
        public static let impliedValueFlagsMask: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
    }

    /// How a time is brought to a timescale in which it isn't a whole number.
    public enum CMTimeRoundingMethod: UInt32, Sendable {
        /// To the nearest; a half away from zero.
        case roundHalfAwayFromZero = 1
        /// The fraction is dropped.
        case roundTowardZero = 2
        /// Any fraction counts as a whole.
        case roundAwayFromZero = 3
        /// Towards zero when the new timescale is coarser, away from zero when it is finer; never from below zero to 0.
        case quickTime = 4
        /// Upwards.
        case roundTowardPositiveInfinity = 5
        /// Downwards.
        case roundTowardNegativeInfinity = 6

        /// Half away from zero.
        public static let `default` = CMTimeRoundingMethod.roundHalfAwayFromZero
    }

    /// A time as a fraction of a second, `value / timescale`, with CoreMedia's fields, rules and names.
    ///
    /// It stands in on systems that have no CoreMedia. Two times are equal when they are the same instant: 1/2 is 300/600.
    public struct CMTime: Sendable {
        /// The numerator.
        public var value: CMTimeValue
        /// The denominator; positive in every valid number.
        public var timescale: CMTimeScale
        /// Whether the time is valid, rounded, infinite or indefinite.
        public var flags: CMTimeFlags
        /// Which run through the timeline it belongs to; 0 for a span of time.
        public var epoch: CMTimeEpoch

        /// Makes an invalid time.
        public init() { self.init(value: 0, timescale: 0, flags: [], epoch: 0) }

        /// Makes a time from its fields, unchecked.
        public init(value: CMTimeValue, timescale: CMTimeScale, flags: CMTimeFlags, epoch: CMTimeEpoch) {
            self.value = value
            self.timescale = timescale
            self.flags = flags
            self.epoch = epoch
        }

        /// Makes the time `value / timescale`; invalid when `timescale` is not positive.
        public init(value: CMTimeValue, timescale: CMTimeScale) {
            if timescale > 0 {
                self.init(value: value, timescale: timescale, flags: .valid, epoch: 0)
            } else {
                self.init()
            }
        }

        /// Makes a time from seconds, in whole ticks of `preferredTimescale` towards zero, as CoreMedia does.
        ///
        /// A timescale in which the value has no room is halved until it fits; when it doesn't fit at 1, the time is
        /// infinite. The time says that it was rounded when it differs from `seconds`. It is invalid when
        /// `preferredTimescale` is not positive or `seconds` is not a number.
        public init(seconds: Double, preferredTimescale: CMTimeScale) {
            guard preferredTimescale > 0, !seconds.isNaN else {
                self.init()
                return
            }
            guard seconds.isFinite else {
                self = seconds < 0 ? .negativeInfinity : .positiveInfinity
                return
            }
            var timescale = preferredTimescale
            while true {
                if let value = CMTimeValue(exactly: (seconds * Double(timescale)).rounded(.towardZero)) {
                    let isExact = Double(value) / Double(timescale) == seconds
                    let flags: CMTimeFlags = isExact ? .valid : [.valid, .hasBeenRounded]
                    self.init(value: value, timescale: timescale, flags: flags, epoch: 0)
                    return
                }
                guard timescale > 1 else { break }
                timescale /= 2
            }
            self = seconds < 0 ? .negativeInfinity : .positiveInfinity
        }

        /// 0/1.
        public static let zero = CMTime(value: 0, timescale: 1)
        /// No time.
        public static let invalid = CMTime()
        /// A time that is not known.
        public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
        /// Later than every number.
        public static let positiveInfinity = CMTime(
            value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
        /// Earlier than every number.
        public static let negativeInfinity = CMTime(
            value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)

        /// Whether it is a time at all.
        public var isValid: Bool { flags.contains(.valid) }
        /// Whether it is positive infinity.
        public var isPositiveInfinity: Bool { isValid && flags.contains(.positiveInfinity) }
        /// Whether it is negative infinity.
        public var isNegativeInfinity: Bool { isValid && flags.contains(.negativeInfinity) }
        /// Whether it is not known.
        public var isIndefinite: Bool { isValid && flags.contains(.indefinite) }
        /// Whether it is a number: valid, finite and known.
        public var isNumeric: Bool { isValid && flags.isDisjoint(with: .impliedValueFlagsMask) }
        /// Whether some operation on the way here could not be exact.
        public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }

        /// The time in seconds; not a number when invalid or indefinite. The epoch doesn't count.
        public var seconds: Double {
            if isPositiveInfinity { return .infinity }
            if isNegativeInfinity { return -.infinity }
            guard isNumeric, timescale > 0 else { return .nan }
            return Double(value) / Double(timescale)
        }
    }

#endif
