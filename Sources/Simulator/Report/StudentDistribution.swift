#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Student's t distribution with a whole number of degrees of freedom.
package enum StudentDistribution {
    /// The probability that |T| is not above `t`: a finite sum (Abramowitz and Stegun, Handbook of Mathematical Functions,
    /// 26.7.3 and 26.7.4).
    package static func probability(within t: Double, degrees: Int) -> Double {
        precondition(degrees >= 1 && t >= 0)
        let angle = atan(t / Double(degrees).squareRoot())
        let (sine, cosine) = (sin(angle), cos(angle))
        let isOdd = degrees % 2 == 1
        var term = isOdd ? cosine : 1
        var sum = degrees == 1 ? 0 : term
        var factor = isOdd ? 2.0 : 1.0
        while factor <= Double(degrees) - 3 {
            term *= factor / (factor + 1) * cosine * cosine
            sum += term
            factor += 2
        }
        return isOdd ? 2 / Double.pi * (angle + sine * sum) : sine * sum
    }

    /// The t that |T| does not exceed with the probability `within`, by bisection.
    ///
    /// - Parameter within: Above 0, and below 1 by at least 1e-9.
    package static func quantile(within probability: Double, degrees: Int) -> Double {
        precondition(probability > 0 && probability <= 1 - 1e-9)
        var (low, high) = (0.0, 1.0)
        while Self.probability(within: high, degrees: degrees) < probability { high *= 2 }
        // The interval halves until no number lies between its ends.
        while true {
            let middle = low + (high - low) / 2
            guard middle > low, middle < high else { return middle }
            if Self.probability(within: middle, degrees: degrees) < probability { low = middle } else { high = middle }
        }
    }
}
