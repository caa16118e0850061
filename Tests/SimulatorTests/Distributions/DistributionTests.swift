import CoreModel
import Foundation
import Simulator
import Testing

/// Draws against closed forms: the distribution function by Kolmogorov and Smirnov, mean and quantiles.
@Suite struct DistributionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var distribution: Distribution
        var mean: Double
        var variance: Double
        var probabilityBelow: @Sendable (Double) -> Double
    }

    static let cases: [Case] = [
        Case(
            testDescription: "uniform", distribution: Distribution(.uniform(2...6)), mean: 4, variance: 16 / 12,
            probabilityBelow: { min(1, max(0, ($0 - 2) / 4)) }),
        Case(
            testDescription: "exponential", distribution: Distribution(.exponential(mean: 600)), mean: 600,
            variance: 360_000, probabilityBelow: { 1 - exp(-$0 / 600) }),
        // The session lengths of a live platform in distributions.json: median 179.5 s, mean 506.1 s.
        Case(
            testDescription: "lognormal", distribution: Distribution(.lognormal(median: exp(5.19), sigma: 1.44)),
            mean: 506.1, variance: (exp(1.44 * 1.44) - 1) * exp(2 * 5.19 + 1.44 * 1.44),
            probabilityBelow: { 0.5 * erfc(-(log($0) - 5.19) / (1.44 * 2.0.squareRoot())) }),
        Case(
            testDescription: "lognormal by its mean", distribution: .lognormal(mean: 6, sigma: 0.47), mean: 6,
            variance: 36 * (exp(0.47 * 0.47) - 1),
            probabilityBelow: {
                0.5 * erfc(-(log($0) - log(6) + 0.47 * 0.47 / 2) / (0.47 * 2.0.squareRoot()))
            }),
        Case(
            testDescription: "weibull by its mean", distribution: .weibull(mean: 600, shape: 0.615), mean: 600,
            variance: {
                let scale = 600 / tgamma(1 + 1 / 0.615)
                return scale * scale * tgamma(1 + 2 / 0.615) - 360_000
            }(),
            probabilityBelow: { 1 - exp(-pow($0 / (600 / tgamma(1 + 1 / 0.615)), 0.615)) }),
        Case(
            testDescription: "pareto", distribution: Distribution(.pareto(minimum: 2, shape: 4)), mean: 8.0 / 3,
            variance: 4.0 * 4 / (9 * 2), probabilityBelow: { $0 < 2 ? 0 : 1 - pow(2 / $0, 4) }),
        Case(
            testDescription: "quantiles",
            distribution: Distribution(
                .quantiles([
                    .init(probability: 0, value: 0), .init(probability: 0.5, value: 10),
                    .init(probability: 1, value: 20),
                ])), mean: 10, variance: 400 / 12.0, probabilityBelow: { min(1, $0 / 20) }),
    ]

    @Test(arguments: cases) func drawsFollowTheirDistribution(of testCase: Case) {
        let count = 20_000
        var generator = SeededGenerator(seed: 7)
        let draws = (0..<count).map { _ in testCase.distribution.draw(using: &generator) }.sorted()
        let distance =
            draws.enumerated().map { index, value in
                let p = testCase.probabilityBelow(value)
                return max(abs(p - Double(index) / Double(count)), abs(p - Double(index + 1) / Double(count)))
            }.max() ?? 1
        // Kolmogorov's 99.9 % bound.
        #expect(distance < 1.95 / Double(count).squareRoot())
        let mean = draws.reduce(0, +) / Double(count)
        #expect(abs(mean - testCase.mean) < 4 * (testCase.variance / Double(count)).squareRoot())
        for p in [0.01, 0.1, 0.5, 0.9, 0.99] {
            #expect(abs(testCase.probabilityBelow(testCase.distribution.quantile(p)) - p) < 1e-9)
        }
    }

    @Test func choicesAndSamplesComeAsOftenAsTheyShould() {
        var generator = SeededGenerator(seed: 3)
        let choices = Distribution(.choices([.init(value: 1, weight: 3), .init(value: 2, weight: 1)]))
        let ones = (0..<10_000).count { _ in choices.draw(using: &generator) == 1 }
        #expect(abs(Double(ones) - 7500) < 4 * (10_000 * 0.75 * 0.25).squareRoot())
        let samples = Distribution(.samples([1, 2, 5]))
        let fives = (0..<9000).count { _ in samples.draw(using: &generator) == 5 }
        #expect(abs(Double(fives) - 3000) < 4 * (9000.0 * 2 / 9).squareRoot())
    }

    @Test func limitsHold() {
        let distribution = Distribution(.exponential(mean: 10), limits: 5...20)
        #expect(distribution.quantile(0.01) == 5)
        #expect(distribution.quantile(0.99) == 20)
        #expect(distribution.greatest == 20)
    }

    /// Tables of the normal distribution.
    @Test(arguments: [(0.5, 0.0), (0.975, 1.959963984540054), (0.99, 2.3263478740408408), (1e-6, -4.753424308822899)])
    func normalQuantilesAreThoseOfTheTables(p: Double, x: Double) {
        #expect(abs(Normal.quantile(p) - x) < 1e-12 * max(1, abs(x)))
        #expect(abs(Normal.probability(below: x) - p) < 1e-12)
    }
}
