import Simulator
import Testing

/// Against published tables, textbook examples and small sums by hand.
@Suite struct StatisticsTests {
    struct Quantile: Sendable, CustomTestStringConvertible {
        var degrees: Int
        var within: Double
        var value: Double
        var testDescription: String { "\(degrees) degrees, \(within)" }
    }

    /// Critical values of Student's t, both tails: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
    static let quantiles =
        [
            (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365), (8, 2.306), (9, 2.262),
            (10, 2.228), (11, 2.201), (12, 2.179), (15, 2.131), (19, 2.093), (20, 2.086), (29, 2.045), (30, 2.042),
            (40, 2.021), (60, 2.000), (100, 1.984),
        ].map { Quantile(degrees: $0.0, within: 0.95, value: $0.1) }
        + [(1, 63.657), (2, 9.925), (9, 3.250), (30, 2.750)].map { Quantile(degrees: $0.0, within: 0.99, value: $0.1) }

    @Test(arguments: quantiles)
    func quantilesAreThePublishedOnes(quantile: Quantile) {
        let value = StudentDistribution.quantile(within: quantile.within, degrees: quantile.degrees)
        #expect(abs(value - quantile.value) <= 0.000_51)
    }

    /// Mean 3, variance 2.5; 2.776 × √(2.5 / 5) = 1.963.
    @Test func theIntervalOfFiveValues() throws {
        let interval = try #require(MeanInterval([5, 1, 4, 2, 3]))
        #expect(interval.mean == 3)
        #expect(abs(try #require(interval.standardDeviation) - 1.5811) < 0.0001)
        #expect(abs(try #require(interval.halfWidth) - 1.963) < 0.001)
        #expect(abs(try #require(interval.low) - 1.037) < 0.001)
        #expect(abs(try #require(interval.high) - 4.963) < 0.001)
    }

    @Test func oneValueHasNoInterval() {
        #expect(MeanInterval([2])?.mean == 2 && MeanInterval([2])?.halfWidth == nil)
        #expect(MeanInterval([]) == nil)
    }

    /// The report that defines the index: 20 dollars for 100 people, one each for 20 of them, is 20 % fair.
    @Test func theIndexOfItsDefinition() throws {
        let shares = Array(repeating: 1.0, count: 20) + Array(repeating: 0, count: 80)
        #expect(abs(try #require(UploadFairness.jain(shares)) - 0.2) < 1e-12)
        #expect(UploadFairness.jain([3, 3, 3]) == 1)
        #expect(abs(try #require(UploadFairness.jain([1, 2, 3, 4])) - 100.0 / 120) < 1e-12)
        #expect(UploadFairness.jain([0, 0]) == nil && UploadFairness.jain([]) == nil)
    }

    @Test func theTopTenthIsRoundedUp() {
        // Two of eleven: 10 + 11 of 66.
        let fairness = UploadFairness((1...11).map { (bytes: Double($0), capacity: 11) })
        #expect(fairness.shareOfTopTenth == 21.0 / 66)
        // Lines of the size of what each gave are used evenly.
        let even = UploadFairness((1...4).map { (bytes: Double($0), capacity: Double(2 * $0)) })
        #expect(even.lineUseIndex == 1)
        #expect(even.index != 1)
    }

    /// The nearest rank, with the list that textbooks use for it.
    @Test func percentilesAreNearestRanks() {
        let summary = SampleSummary([35, 20, 15, 50, 40], ends: [])
        #expect([5, 30, 40, 50, 100].map { summary.percentile($0) } == [15, 20, 20, 35, 50])
        #expect(summary.mean == 32)
        #expect(SampleSummary([], ends: []).percentile(50) == nil)
    }

    @Test func classesOfTheHistogramHoldTheirUpperEnd() {
        let summary = SampleSummary([0, 0, 0.5, 1, 1.5, 9], ends: [0, 1, 2])
        #expect(summary.histogram.map(\.count) == [2, 2, 1, 1])
        #expect(summary.histogram.map(\.upTo) == [0, 1, 2, nil])
    }

    @Test func shortRunsHaveTheirPercentileOfSeconds() {
        let rate = DeliveryRate(Array(1...100))
        #expect(rate.windowSeconds == 1 && rate.percentile95 == 95 * 8 && rate.peak == 800)
        #expect(rate.mean == 50.5 * 8)
        #expect(DeliveryRate([]).peak == 0)
    }

    /// 21 windows of five minutes with a byte more a second each: the 20th is the least that 95 % do not exceed.
    @Test func longRunsHaveItOfFiveMinutes() {
        let bytes = (1...21).flatMap { Array(repeating: $0, count: 300) } + [1000]
        let rate = DeliveryRate(bytes)
        #expect(rate.windowSeconds == 300 && rate.percentile95 == 20 * 8 && rate.peak == 8000)
    }
}
