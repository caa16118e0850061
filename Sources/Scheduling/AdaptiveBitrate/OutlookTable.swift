import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What a buffer is worth: the score that the segments to come will reach with it, against a full buffer, at each believed
/// rate.
///
/// Solved by value iteration over the next segments, each fetched at its best rung: the segment's utility, less the penalty
/// of the stall that its fetch causes, plus the worth of the buffer that is left. The link keeps its rate or becomes any
/// other that the ladder was made for; a link that fades can also fall below the ladder. So a buffer is worth keeping when
/// the rate is high and worth using when it is low, as in BOLA, but for a reason that knows the rate.
///
/// Depends on the ladder, the buffer's size and the segments' duration alone: viewers of one stream share it.
public struct OutlookTable: Sendable, Equatable {
    /// The penalty of a stall, in utility per stall of a segment's duration. (Sabre's γ·p.)
    static let stallPenalty = 5.0
    /// Points and weights of the three-point Gauss-Hermite rule: a normal distribution for the cost of three outcomes.
    static let points = [(-3.0.squareRoot(), 1.0 / 6), (0, 2.0 / 3), (3.0.squareRoot(), 1.0 / 6)]

    /// How many segments are looked ahead.
    private static let horizon = 30
    /// Standard deviation of a fetch's rate around the believed one, as a logarithm.
    private static let deviation = 0.1
    /// The chance, at each segment, that the link becomes another.
    private static let changeChance = 0.3
    /// The lowest rate that a steady link becomes, in multiples of the ladder's lowest…
    private static let steadyReach = 1.5
    /// …and a fading one.
    private static let fadingReach = 0.6
    /// The highest rate that a link becomes, in multiples of the ladder's highest.
    private static let topReach = 1.5
    /// The latency of a request.
    private static let latency = 50.0
    /// Levels of the buffer in the table.
    private static let levelCount = 24
    /// From one believed rate to the next, as a logarithm.
    private static let rateStep = log(1.4)

    /// The most that is buffered when a fetch begins.
    private let room: Double
    private let levelStep: Double
    private let lowestRate: Double
    private let rateCount: Int
    /// By rate, then by level: the worth on a link that doesn't fade.
    private var steady: [Double]
    /// The same on a link that fades.
    private var fading: [Double]

    /// Makes the table: about a million steps of arithmetic.
    ///
    /// - Parameters:
    ///   - capacity: The size of the buffer, in milliseconds; in live the distance to the live edge.
    ///   - segment: The usual duration of a segment's media, in milliseconds.
    public init(ladder: BitrateLadder, capacity: Double, segment: Double) {
        let segment = max(segment, 1)
        // A live buffer can be as short as a segment.
        room = max(capacity - segment, 500)
        levelStep = room / Double(Self.levelCount - 1)
        // A tenth of the lowest rung to four times the highest: beyond, more of either changes nothing.
        lowestRate = log(ladder.kilobitsPerSecond[0] * 0.1)
        rateCount = Int((log(ladder.kilobitsPerSecond[ladder.top] * 4) - lowestRate) / Self.rateStep) + 2
        (steady, fading) = ([], [])
        steady = solve(ladder: ladder, segment: segment, reach: Self.steadyReach)
        fading = solve(ladder: ladder, segment: segment, reach: Self.fadingReach)
    }

    /// The score, from its arrival on, of a segment that takes `time` milliseconds to arrive when `level` are buffered: its stall
    /// and the worth of the buffer that it leaves.
    ///
    /// - Parameters:
    ///   - segment: The segment's duration.
    ///   - limit: The most that can be buffered when the next fetch begins.
    ///   - logRate: The natural logarithm of the believed rate.
    ///   - fade: How far the link is a fading one, 0 to 1.
    func outcome(
        time: Double, level: Double, segment: Double, limit: Double, logRate: Double, fade: Double
    ) -> Double {
        let left = min(max(level - time, 0) + segment, limit)
        let stall = max(0, time - level) / segment
        return worth(level: left, logRate: logRate, fade: fade) - Self.stallPenalty * stall
    }

    /// The worth of a buffer: at most 0, the worth of a full one.
    func worth(level: Double, logRate: Double, fade: Double) -> Double {
        let (rate, rateRest) = Self.split((logRate - lowestRate) / Self.rateStep, count: rateCount)
        let (column, columnRest) = Self.split(level / levelStep, count: Self.levelCount)
        let low = rate * Self.levelCount + column
        let high = low + Self.levelCount
        let atLow = blend(low, fade: fade) * (1 - columnRest) + blend(low + 1, fade: fade) * columnRest
        let atHigh = blend(high, fade: fade) * (1 - columnRest) + blend(high + 1, fade: fade) * columnRest
        return atLow + rateRest * (atHigh - atLow)
    }

    private func blend(_ index: Int, fade: Double) -> Double {
        steady[index] + fade * (fading[index] - steady[index])
    }

    /// Where a position in a list of `count` points lies: the point before it, and the way to the next.
    private static func split(_ position: Double, count: Int) -> (point: Int, rest: Double) {
        let position = min(max(position, 0), Double(count - 1))
        let point = min(Int(position), count - 2)
        return (point, position - Double(point))
    }

    /// The worth by rate and level of a link that changes to rates from `reach` times the ladder's lowest.
    private func solve(ladder: BitrateLadder, segment: Double, reach: Double) -> [Double] {
        let times = fetchTimes(ladder: ladder, segment: segment)
        let reached = reachedRates(ladder: ladder, reach: reach)
        var worth = [Double](repeating: 0, count: rateCount * Self.levelCount)
        for _ in 0..<Self.horizon {
            mixInChanges(&worth, reached: reached)
            let next = worth
            for rate in 0..<rateCount {
                for level in 0..<Self.levelCount {
                    var best = -Double.infinity
                    for rung in 0..<ladder.count {
                        let value = expectation(
                            level: Double(level) * levelStep, segment: segment,
                            times: times, first: (rate * ladder.count + rung) * Self.points.count,
                            worth: next, row: rate * Self.levelCount)
                        best = max(best, ladder.utilities[rung] + value)
                    }
                    worth[rate * Self.levelCount + level] = best
                }
            }
        }
        for row in stride(from: 0, to: worth.count, by: Self.levelCount) {
            let full = worth[row + Self.levelCount - 1]
            for index in row..<row + Self.levelCount { worth[index] -= full }
        }
        return worth
    }

    /// The mean outcome over the fetch times from `first` on.
    private func expectation(
        level: Double, segment: Double, times: [Double], first: Int, worth: [Double], row: Int
    ) -> Double {
        var sum = 0.0
        for index in 0..<Self.points.count {
            let time = times[first + index]
            let (column, rest) = Self.split((max(level - time, 0) + segment) / levelStep, count: Self.levelCount)
            let left = worth[row + column] + rest * (worth[row + column + 1] - worth[row + column])
            sum += Self.points[index].1 * (left - Self.stallPenalty * max(0, time - level) / segment)
        }
        return sum
    }

    /// How long a fetch takes, by rate, rung and point.
    private func fetchTimes(ladder: BitrateLadder, segment: Double) -> [Double] {
        var times: [Double] = []
        times.reserveCapacity(rateCount * ladder.count * Self.points.count)
        for index in 0..<rateCount {
            let rate = exp(lowestRate + Double(index) * Self.rateStep)
            for rung in ladder.kilobitsPerSecond {
                for (point, _) in Self.points {
                    times.append(Self.latency + segment * rung / (rate * exp(Self.deviation * point)))
                }
            }
        }
        return times
    }

    /// The rates in the table that a link can become.
    private func reachedRates(ladder: BitrateLadder, reach: Double) -> ClosedRange<Int> {
        let lowest = log(ladder.kilobitsPerSecond[0] * reach)
        let highest = max(lowest, log(ladder.kilobitsPerSecond[ladder.top] * Self.topReach))
        return Int((lowest - lowestRate) / Self.rateStep)...Int((highest - lowestRate) / Self.rateStep)
    }

    /// Lets the link become another with its chance.
    private func mixInChanges(_ worth: inout [Double], reached: ClosedRange<Int>) {
        for level in 0..<Self.levelCount {
            var sum = 0.0
            for rate in reached { sum += worth[rate * Self.levelCount + level] }
            let mean = sum / Double(reached.count)
            for index in stride(from: level, to: worth.count, by: Self.levelCount) {
                worth[index] += Self.changeChance * (mean - worth[index])
            }
        }
    }
}
