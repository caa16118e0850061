extension NetworkTrace {
    /// A link that carries one request at a time at the trace's rate, with the trace's latency before each first byte.
    ///
    /// Its clock runs only while a request or a wait is on. Times are milliseconds and rates kilobits a second, and sums are
    /// made in the order in which Sabre makes them, since BOLA-E's choices can hang on how a sum was rounded.
    struct Link: Sendable {
        private struct Period {
            var milliseconds: Double
            var kilobitsPerSecond: Double
            var latencyMilliseconds: Double
        }

        private let periods: [Period]
        private var index = 0
        /// What is left of the period.
        private var millisecondsLeft: Double

        init(_ trace: NetworkTrace) {
            periods = trace.steps.map {
                Period(
                    milliseconds: $0.duration / .milliseconds(1), kilobitsPerSecond: Double($0.bitsPerSecond) / 1000,
                    latencyMilliseconds: $0.latency / .milliseconds(1))
            }
            millisecondsLeft = periods[0].milliseconds
        }

        /// Lets time pass.
        mutating func wait(milliseconds: Double) {
            var milliseconds = milliseconds
            while milliseconds > millisecondsLeft {
                milliseconds -= millisecondsLeft
                nextPeriod()
            }
            millisecondsLeft -= milliseconds
        }

        /// Lets a request's latency pass; a period that ends within it uses up its share of it.
        ///
        /// - Returns: The milliseconds until the first byte.
        mutating func awaitFirstByte() -> Double {
            var share = 1.0
            var elapsed = 0.0
            while true {
                let latency = periods[index].latencyMilliseconds
                let needed = share * latency
                if needed <= millisecondsLeft {
                    millisecondsLeft -= needed
                    return elapsed + needed
                }
                elapsed += millisecondsLeft
                share -= millisecondsLeft / latency
                nextPeriod()
            }
        }

        /// Carries bits until `limit` have arrived, or both `bits` and what arrives in `milliseconds`.
        mutating func carry(
            limit: Double, bits minimumBits: Double, milliseconds minimumMilliseconds: Double
        ) -> (bits: Double, milliseconds: Double) {
            var (carried, elapsed) = (0.0, 0.0)
            var (limit, bitsLeft, timeLeft) = (limit, minimumBits, minimumMilliseconds)
            while limit > 0, bitsLeft > 0 || timeLeft > 0 {
                let rate = periods[index].kilobitsPerSecond
                var (bits, time) = (0.0, millisecondsLeft)
                if rate > 0 {
                    let wanted = max(bitsLeft, timeLeft * rate)
                    let available = millisecondsLeft * rate
                    bits = min(limit, wanted, available)
                    if limit <= wanted, limit <= available {
                        time = bits / rate
                    } else if wanted <= available {
                        time = bits / rate
                        // So that what rounding leaves does not go round again.
                        (bitsLeft, timeLeft) = (0, 0)
                    }
                } else if bitsLeft <= 0, timeLeft <= millisecondsLeft {
                    time = timeLeft
                }
                if time < millisecondsLeft { millisecondsLeft -= time } else { nextPeriod() }
                carried += bits
                elapsed += time
                limit -= bits
                bitsLeft -= bits
                timeLeft -= time
            }
            return (carried, elapsed)
        }

        private mutating func nextPeriod() {
            index = index + 1 < periods.count ? index + 1 : 0
            millisecondsLeft = periods[index].milliseconds
        }
    }
}
