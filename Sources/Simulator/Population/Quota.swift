internal import CoreModel

/// Divides a population into kinds with exact counts in random places.
///
/// Exact counts instead of a draw per viewer: two runs that differ in something else then have as many of each kind, which
/// takes the largest noise out of a comparison.
enum Quota {
    /// How many of `total` each weight gets: the whole part of its share, and one more for the largest remainders (first the
    /// earlier of equal ones).
    static func counts(_ weights: [Double], total: Int) -> [Int] {
        let sum = weights.reduce(0, +)
        let exact = weights.map { $0 / sum * Double(total) }
        var counts = exact.map { Int($0) }
        let order = exact.indices.sorted {
            let (a, b) = (exact[$0] - exact[$0].rounded(.down), exact[$1] - exact[$1].rounded(.down))
            return a == b ? $0 < $1 : a > b
        }
        for index in order.prefix(max(0, total - counts.reduce(0, +))) { counts[index] += 1 }
        return counts
    }

    /// A kind's index for each of `total` viewers, shuffled (Fisher and Yates).
    static func assign(_ weights: [Double], total: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var kinds: [UInt8] = []
        kinds.reserveCapacity(total)
        for (kind, count) in counts(weights, total: total).enumerated() {
            kinds.append(contentsOf: repeatElement(UInt8(kind), count: count))
        }
        for index in stride(from: kinds.count - 1, to: 0, by: -1) {
            kinds.swapAt(index, generator.index(below: index + 1))
        }
        return kinds
    }
}
