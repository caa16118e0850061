#if !canImport(CoreMedia)

    /// The order of CoreMedia: negative infinity, numbers by epoch and then by time, indefinite, positive infinity, invalid.
    extension CMTime: Comparable, Hashable {
        public static func == (left: CMTime, right: CMTime) -> Bool { left.order(to: right) == 0 }

        public static func < (left: CMTime, right: CMTime) -> Bool { left.order(to: right) < 0 }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(rank)
            guard isNumeric, timescale > 0 else { return }
            // Equal instants hash alike in any timescale: lowest terms.
            var (a, b) = (value.magnitude, UInt64(timescale))
            while b != 0 { (a, b) = (b, a % b) }
            hasher.combine(epoch)
            hasher.combine(value / Int64(a))
            hasher.combine(UInt64(timescale) / a)
        }

        /// -1 when it comes before `other`, 1 when after, 0 when they are the same.
        func order(to other: CMTime) -> Int32 {
            guard rank == other.rank else { return rank < other.rank ? -1 : 1 }
            guard isNumeric else { return 0 }
            guard epoch == other.epoch else { return epoch < other.epoch ? -1 : 1 }
            let left = Int128(value) * Int128(other.timescale)
            let right = Int128(other.value) * Int128(timescale)
            return left == right ? 0 : left < right ? -1 : 1
        }

        private var rank: Int {
            if !isValid { return 4 }
            if isPositiveInfinity { return 3 }
            if isNegativeInfinity { return 0 }
            return isIndefinite ? 2 : 1
        }
    }

#endif
