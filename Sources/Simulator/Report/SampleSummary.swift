/// How the values of many viewers are spread: percentiles and a histogram.
package struct SampleSummary: Sendable, Equatable {
    /// A class of the histogram: values above the end of the one before and not above its own.
    package struct Bin: Sendable, Equatable {
        /// `nil`: everything above the last end.
        package var upTo: Double?
        package var count: Int
    }

    /// The percentiles that are given, of 100.
    package static let ranks = [5, 25, 50, 75, 90, 95, 99]
    /// Ends of the histogram's classes for spans that viewers wait, in seconds: finer where waiting is first felt.
    package static let secondsEnds = [0, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60]
    /// The same for small whole numbers.
    package static let countEnds = [0.0, 1, 2, 3, 5, 10, 20]

    /// In order of size.
    package let sorted: [Double]
    package let histogram: [Bin]

    /// - Parameters:
    ///   - values: In any order; finite.
    ///   - ends: Of the histogram's classes, rising; one more class holds what is above the last.
    package init(_ values: [Double], ends: [Double]) {
        sorted = values.sorted()
        var histogram = ends.map { Bin(upTo: $0, count: 0) } + [Bin(upTo: nil, count: 0)]
        var bin = 0
        for value in sorted {
            while bin < ends.count, value > ends[bin] { bin += 1 }
            histogram[bin].count += 1
        }
        self.histogram = histogram
    }

    package var count: Int { sorted.count }
    package var mean: Double? { sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count) }

    /// The least value that at least `rank` of 100 values do not exceed (the nearest rank); `nil` without values.
    package func percentile(_ rank: Int) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = (sorted.count * rank + 99) / 100 - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}
