#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// How a number varies between viewers or in time: the unit is that of the place it stands in.
///
/// A draw is the quantile of one uniform number, so that each takes exactly one number from the generator and two draws can
/// be correlated through their uniform numbers.
package struct Distribution: Sendable, Equatable {
    package enum Shape: Sendable, Equatable {
        /// Always the same.
        case fixed(Double)
        case uniform(ClosedRange<Double>)
        case exponential(mean: Double)
        /// The logarithm is normal with mean ln `median` and standard deviation `sigma`.
        case lognormal(median: Double, sigma: Double)
        case weibull(scale: Double, shape: Double)
        /// At least `minimum`; the probability of more than x is (minimum / x)^shape.
        case pareto(minimum: Double, shape: Double)
        /// Straight lines between points of the distribution function, ordered by probability and value; the first
        /// probability is 0, the last 1.
        case quantiles([Point])
        /// Each value as often as the others, drawn again and again; sorted.
        case samples([Double])
        /// Each value with its weight; ordered by value.
        case choices([Choice])
    }

    /// A point of a distribution function.
    package struct Point: Sendable, Equatable {
        package var probability: Double
        package var value: Double

        package init(probability: Double, value: Double) {
            self.probability = probability
            self.value = value
        }
    }

    /// A value and how often it is drawn.
    package struct Choice: Sendable, Equatable {
        package var value: Double
        package var weight: Double

        package init(value: Double, weight: Double) {
            self.value = value
            self.weight = weight
        }
    }

    package var shape: Shape
    /// What is drawn below or above counts as the limit itself.
    package var limits: ClosedRange<Double>

    package init(_ shape: Shape, limits: ClosedRange<Double> = -.infinity ... .infinity) {
        self.shape = shape
        self.limits = limits
    }

    /// Always `value`.
    package static func fixed(_ value: Double) -> Distribution { Distribution(.fixed(value)) }

    /// A lognormal distribution by its mean: the median is mean / e^(σ²/2).
    package static func lognormal(mean: Double, sigma: Double) -> Distribution {
        Distribution(.lognormal(median: mean / exp(sigma * sigma / 2), sigma: sigma))
    }

    /// A Weibull distribution by its mean: the scale is mean / Γ(1 + 1/shape).
    package static func weibull(mean: Double, shape: Double) -> Distribution {
        Distribution(.weibull(scale: mean / tgamma(1 + 1 / shape), shape: shape))
    }

    /// The value that is not exceeded with probability `p`, for `p` in (0, 1).
    package func quantile(_ p: Double) -> Double {
        min(max(unlimitedQuantile(p), limits.lowerBound), limits.upperBound)
    }

    /// Draws a value with one number of the generator.
    package func draw(using generator: inout some RandomNumberGenerator) -> Double {
        if case .fixed(let value) = shape {
            // The number is taken all the same, so that the draws that follow don't depend on the shape.
            _ = generator.next()
            return min(max(value, limits.lowerBound), limits.upperBound)
        }
        return quantile(generator.unitInterval())
    }

    /// The greatest value that can come out; infinite where there is none.
    package var greatest: Double {
        let greatest: Double =
            switch shape {
            case .fixed(let value): value
            case .uniform(let range): range.upperBound
            case .exponential, .lognormal, .weibull, .pareto: .infinity
            case .quantiles(let points): points.last?.value ?? 0
            case .samples(let values): values.last ?? 0
            case .choices(let choices): choices.last?.value ?? 0
            }
        return min(max(greatest, limits.lowerBound), limits.upperBound)
    }

    private func unlimitedQuantile(_ p: Double) -> Double {
        switch shape {
        case .fixed(let value): return value
        case .uniform(let range): return range.lowerBound + p * (range.upperBound - range.lowerBound)
        case .exponential(let mean): return -mean * log1p(-p)
        case .lognormal(let median, let sigma): return median * exp(sigma * Normal.quantile(p))
        case .weibull(let scale, let shape): return scale * pow(-log1p(-p), 1 / shape)
        case .pareto(let minimum, let shape): return minimum * pow(1 - p, -1 / shape)
        case .quantiles(let points):
            let next = max(1, points.firstIndex { $0.probability >= p } ?? points.count - 1)
            let (low, high) = (points[next - 1], points[next])
            guard high.probability > low.probability else { return high.value }
            let share = (p - low.probability) / (high.probability - low.probability)
            return low.value + share * (high.value - low.value)
        case .samples(let values): return values[min(values.count - 1, Int(p * Double(values.count)))]
        case .choices(let choices):
            var left = p * choices.reduce(0) { $0 + $1.weight }
            for choice in choices.dropLast() {
                left -= choice.weight
                if left < 0 { return choice.value }
            }
            return choices[choices.count - 1].value
        }
    }
}

extension RandomNumberGenerator {
    /// A number between 0 and 1, neither included, in steps of 2⁻⁵².
    mutating func unitInterval() -> Double { (Double(next() >> 12) + 0.5) * 0x1p-52 }

    /// A number from 0 up to `bound`, by multiplication (Lemire); the bias is below `bound` in 2⁶⁴.
    mutating func index(below bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }
}
