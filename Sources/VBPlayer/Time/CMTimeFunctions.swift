#if !canImport(CoreMedia)

    /// The largest timescale.
    public let kCMTimeMaxTimescale: CMTimeScale = .max
    /// ``CMTime/zero``.
    public let kCMTimeZero = CMTime.zero
    /// ``CMTime/invalid``.
    public let kCMTimeInvalid = CMTime.invalid
    /// ``CMTime/indefinite``.
    public let kCMTimeIndefinite = CMTime.indefinite
    /// ``CMTime/positiveInfinity``.
    public let kCMTimePositiveInfinity = CMTime.positiveInfinity
    /// ``CMTime/negativeInfinity``.
    public let kCMTimeNegativeInfinity = CMTime.negativeInfinity

    /// Makes the time `value / timescale`; invalid when `timescale` is not positive.
    public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

    /// Makes the time `value / timescale` of a run through a timeline; invalid when `timescale` is not positive.
    public func CMTimeMakeWithEpoch(value: Int64, timescale: Int32, epoch: Int64) -> CMTime {
        var time = CMTime(value: value, timescale: timescale)
        if time.isValid { time.epoch = epoch }
        return time
    }

    /// Makes a time from seconds: see ``CMTime/init(seconds:preferredTimescale:)``.
    public func CMTimeMakeWithSeconds(_ seconds: Float64, preferredTimescale: Int32) -> CMTime {
        CMTime(seconds: seconds, preferredTimescale: preferredTimescale)
    }

    /// The time in seconds: see ``CMTime/seconds``.
    public func CMTimeGetSeconds(_ time: CMTime) -> Float64 { time.seconds }

    /// Brings a time to another timescale: see ``CMTime/convertScale(_:method:)``.
    public func CMTimeConvertScale(_ time: CMTime, timescale: Int32, method: CMTimeRoundingMethod) -> CMTime {
        time.convertScale(timescale, method: method)
    }

    /// The sum.
    public func CMTimeAdd(_ lhs: CMTime, _ rhs: CMTime) -> CMTime { lhs + rhs }

    /// The difference.
    public func CMTimeSubtract(_ lhs: CMTime, _ rhs: CMTime) -> CMTime { lhs - rhs }

    /// The product with a whole number, in the time's timescale where that has room.
    public func CMTimeMultiply(_ time: CMTime, multiplier: Int32) -> CMTime {
        CMTimeMultiplyByRatio(time, multiplier: multiplier, divisor: 1)
    }

    /// The product with a fraction: exact where a timescale allows it, else rounded half away from zero and marked so.
    ///
    /// Invalid when `divisor` is 0.
    public func CMTimeMultiplyByRatio(_ time: CMTime, multiplier: Int32, divisor: Int32) -> CMTime {
        guard time.isValid, divisor != 0 else { return .invalid }
        let isNegative = (multiplier < 0) != (divisor < 0)
        if time.isIndefinite { return .indefinite }
        if time.isInfinite {
            guard multiplier != 0 else { return .invalid }
            return time.isPositiveInfinity != isNegative ? .positiveInfinity : .negativeInfinity
        }
        guard time.timescale > 0 else { return .invalid }
        let numerator = Int128(time.value) * Int128(multiplier) * (divisor < 0 ? -1 : 1)
        let denominator = Int128(time.timescale) * Int128(divisor.magnitude)
        // The timescale grows by what the divisor leaves over, as far as 32 bits go.
        let divided = Int64(time.timescale) * Int64(divisor.magnitude)
        let isWhole = numerator % Int128(divisor.magnitude) == 0
        return CMTime.fitting(
            numerator, over: denominator, timescale: isWhole ? time.timescale : CMTimeScale(clamping: divided),
            epoch: time.epoch, wasRounded: time.hasBeenRounded)
    }

    /// The product with a floating-point number: in the smallest power-of-two multiple of the time's timescale that holds
    /// it exactly, else in the largest, rounded half away from zero and marked so.
    ///
    /// Invalid when `multiplier` is not a number.
    public func CMTimeMultiplyByFloat64(_ time: CMTime, multiplier: Float64) -> CMTime {
        guard time.isValid, !multiplier.isNaN else { return .invalid }
        if time.isIndefinite { return .indefinite }
        if time.isInfinite || multiplier.isInfinite {
            guard multiplier != 0, time.isInfinite || time.value != 0 else { return .invalid }
            let isNegative = (time.isNegativeInfinity || (time.isNumeric && time.value < 0)) != (multiplier < 0)
            return isNegative ? .negativeInfinity : .positiveInfinity
        }
        guard time.timescale > 0 else { return .invalid }
        var timescale = time.timescale
        var scale = 1.0
        while true {
            let product = Double(time.value) * multiplier * scale
            let canGrow = timescale <= CMTimeScale.max / 2 && product.magnitude < 0x1p62
            if product == product.rounded() || !canGrow { break }
            timescale *= 2
            scale *= 2
        }
        while true {
            let product = Double(time.value) * multiplier * scale
            let rounded = product.rounded(.toNearestOrAwayFromZero)
            if let value = CMTimeValue(exactly: rounded) {
                let isExact = rounded == product && time.value.magnitude <= 1 << 53 && !time.hasBeenRounded
                return CMTime(
                    value: value, timescale: timescale, flags: isExact ? .valid : [.valid, .hasBeenRounded],
                    epoch: time.epoch)
            }
            guard timescale > 1 else { return product < 0 ? .negativeInfinity : .positiveInfinity }
            // An odd timescale loses half a tick when it is halved, so the factor follows the timescale itself.
            timescale /= 2
            scale = Double(timescale) / Double(time.timescale)
        }
    }

    /// -1 when the first comes before the second, 1 when after, 0 when they are the same.
    public func CMTimeCompare(_ time1: CMTime, _ time2: CMTime) -> Int32 { time1.order(to: time2) }

    /// The earlier of two times.
    public func CMTimeMinimum(_ time1: CMTime, _ time2: CMTime) -> CMTime { time2 < time1 ? time2 : time1 }

    /// The later of two times.
    public func CMTimeMaximum(_ time1: CMTime, _ time2: CMTime) -> CMTime { time2 > time1 ? time2 : time1 }

    /// The time's distance from zero.
    public func CMTimeAbsoluteValue(_ time: CMTime) -> CMTime {
        if time.isNegativeInfinity { return .positiveInfinity }
        guard time.isNumeric, time.value < 0 else { return time }
        return CMTimeMultiply(time, multiplier: -1)
    }

    /// Whether it is a time at all.
    public func CMTIME_IS_VALID(_ time: CMTime) -> Bool { time.isValid }
    /// Whether it is no time.
    public func CMTIME_IS_INVALID(_ time: CMTime) -> Bool { !time.isValid }
    /// Whether it is positive infinity.
    public func CMTIME_IS_POSITIVE_INFINITY(_ time: CMTime) -> Bool { time.isPositiveInfinity }
    /// Whether it is negative infinity.
    public func CMTIME_IS_NEGATIVE_INFINITY(_ time: CMTime) -> Bool { time.isNegativeInfinity }
    /// Whether it is not known.
    public func CMTIME_IS_INDEFINITE(_ time: CMTime) -> Bool { time.isIndefinite }
    /// Whether it is a number.
    public func CMTIME_IS_NUMERIC(_ time: CMTime) -> Bool { time.isNumeric }
    /// Whether some operation on the way here could not be exact.
    public func CMTIME_HAS_BEEN_ROUNDED(_ time: CMTime) -> Bool { time.hasBeenRounded }

#endif
