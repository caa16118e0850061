#if !canImport(CoreMedia)

    extension CMTime {
        /// The sum, in the least common timescale.
        ///
        /// Where that exceeds 32 bits the largest timescale is taken, and where the value exceeds 64 bits the timescale is
        /// halved until it fits, both rounded half away from zero and marked as rounded; what doesn't fit at timescale 1
        /// is infinite. Different epochs that are both not zero have no sum: invalid.
        public static func + (left: CMTime, right: CMTime) -> CMTime {
            guard left.isValid, right.isValid else { return .invalid }
            if left.isInfinite || right.isInfinite { return sumOfInfinities(left, right) }
            if left.isIndefinite || right.isIndefinite { return .indefinite }
            guard left.timescale > 0, right.timescale > 0 else { return .invalid }
            guard left.epoch == right.epoch || left.epoch == 0 || right.epoch == 0 else { return .invalid }
            let divisor = greatestCommonDivisor(left.timescale, right.timescale)
            let (leftFactor, rightFactor) = (right.timescale / divisor, left.timescale / divisor)
            let common = Int64(left.timescale) * Int64(leftFactor)
            let sum = Int128(left.value) * Int128(leftFactor) + Int128(right.value) * Int128(rightFactor)
            // Two times of one run give a span, which has no epoch; a span keeps the epoch of what it is added to.
            let epoch = left.epoch != 0 && right.epoch != 0 ? 0 : left.epoch + right.epoch
            let wasRounded = left.hasBeenRounded || right.hasBeenRounded
            return fitting(
                sum, over: Int128(common), timescale: CMTimeScale(clamping: common), epoch: epoch,
                wasRounded: wasRounded)
        }

        /// The difference, by the rules of the sum.
        public static func - (left: CMTime, right: CMTime) -> CMTime {
            guard right.isNumeric else { return left + right.negated }
            // The most negative value has no opposite in 64 bits, so the subtraction isn't a sum with the opposite there.
            guard right.value != .min else {
                let half = CMTime(
                    value: right.value / 2, timescale: right.timescale, flags: right.flags, epoch: right.epoch)
                return left - half - half
            }
            return left + right.negated
        }

        /// Brings the time to another timescale; what isn't a number stays as it is.
        ///
        /// Invalid when `timescale` is not positive, infinite when the value has no room.
        public func convertScale(_ newTimescale: CMTimeScale, method: CMTimeRoundingMethod) -> CMTime {
            guard isNumeric else { return self }
            guard timescale > 0, newTimescale > 0 else { return .invalid }
            guard timescale != newTimescale else { return self }
            let (number, isExact) = Self.round(
                Int128(value) * Int128(newTimescale), over: Int128(timescale), method: method,
                becomesFiner: newTimescale > timescale)
            guard let newValue = CMTimeValue(exactly: number) else {
                return value < 0 ? .negativeInfinity : .positiveInfinity
            }
            let newFlags = isExact ? flags : flags.union(.hasBeenRounded)
            return CMTime(value: newValue, timescale: newTimescale, flags: newFlags, epoch: epoch)
        }

        /// Whether the time is one of the infinities.
        var isInfinite: Bool { isPositiveInfinity || isNegativeInfinity }

        private var negated: CMTime {
            if isPositiveInfinity { return .negativeInfinity }
            if isNegativeInfinity { return .positiveInfinity }
            guard isNumeric else { return self }
            return CMTime(value: -value, timescale: timescale, flags: flags, epoch: epoch)
        }

        private static func sumOfInfinities(_ left: CMTime, _ right: CMTime) -> CMTime {
            let isPositive = left.isPositiveInfinity || right.isPositiveInfinity
            let isNegative = left.isNegativeInfinity || right.isNegativeInfinity
            if isPositive && isNegative { return .invalid }
            return isPositive ? .positiveInfinity : .negativeInfinity
        }

        /// The time `numerator / denominator` seconds in `timescale` or, where that has no room, in its halves.
        static func fitting(
            _ numerator: Int128, over denominator: Int128, timescale: CMTimeScale, epoch: CMTimeEpoch, wasRounded: Bool
        ) -> CMTime {
            var timescale = timescale
            while true {
                if let (value, isExact) = scaled(numerator, over: denominator, timescale: timescale) {
                    let flags: CMTimeFlags = isExact && !wasRounded ? .valid : [.valid, .hasBeenRounded]
                    return CMTime(value: value, timescale: timescale, flags: flags, epoch: epoch)
                }
                guard timescale > 1 else { return numerator < 0 ? .negativeInfinity : .positiveInfinity }
                timescale /= 2
            }
        }

        private static func scaled(
            _ numerator: Int128, over denominator: Int128, timescale: CMTimeScale
        ) -> (value: CMTimeValue, isExact: Bool)? {
            // The product can pass 128 bits only where the whole seconds alone don't fit 64 bits times the timescale.
            let (product, overflow) = numerator.multipliedReportingOverflow(by: Int128(timescale))
            guard !overflow else { return nil }
            let (rounded, isExact) = round(product, over: denominator, method: .default, becomesFiner: false)
            return CMTimeValue(exactly: rounded).map { ($0, isExact) }
        }

        private static func round(
            _ numerator: Int128, over denominator: Int128, method: CMTimeRoundingMethod, becomesFiner: Bool
        ) -> (number: Int128, isExact: Bool) {
            let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
            guard remainder != 0 else { return (quotient, true) }
            let isNegative = numerator < 0
            let awayFromZero = quotient + (isNegative ? -1 : 1)
            let goesAway =
                switch method {
                case .roundHalfAwayFromZero: remainder.magnitude >= denominator.magnitude - remainder.magnitude
                case .roundTowardZero: false
                case .roundAwayFromZero: true
                case .quickTime: becomesFiner || (isNegative && quotient == 0)
                case .roundTowardPositiveInfinity: !isNegative
                case .roundTowardNegativeInfinity: isNegative
                }
            return (goesAway ? awayFromZero : quotient, false)
        }

        private static func greatestCommonDivisor(_ first: CMTimeScale, _ second: CMTimeScale) -> CMTimeScale {
            var (a, b) = (first, second)
            while b != 0 { (a, b) = (b, a % b) }
            return a
        }
    }

#endif
