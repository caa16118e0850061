#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard normal distribution.
package enum Normal {
    /// The density at `x`.
    package static func density(_ x: Double) -> Double { exp(-x * x / 2) / (2 * Double.pi).squareRoot() }

    /// The probability of a value below `x`.
    package static func probability(below x: Double) -> Double { erfc(-x / 2.0.squareRoot()) / 2 }

    /// The value that is not exceeded with probability `p`, for `p` between 0 and 1.
    ///
    /// Acklam's rational approximation (relative error below 1.2e-9), then one step of Halley's method with the error
    /// function, which brings it to the precision of `Double`.
    package static func quantile(_ p: Double) -> Double {
        precondition(p > 0 && p < 1, "a probability between 0 and 1")
        let tail = 0.02425
        var x: Double
        if p < tail {
            x = tailQuantile((-2 * log(p)).squareRoot())
        } else if p > 1 - tail {
            x = -tailQuantile((-2 * log(1 - p)).squareRoot())
        } else {
            let q = p - 0.5
            let r = q * q
            x =
                polynomial(
                    r, -3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02,
                    -3.066479806614716e+01, 2.506628277459239e+00) * q
                / polynomial(
                    r, -5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                    -1.328068155288572e+01, 1)
        }
        let error = probability(below: x) - p
        let step = error * (2 * Double.pi).squareRoot() * exp(x * x / 2)
        x -= step / (1 + x * step / 2)
        return x
    }

    private static func tailQuantile(_ q: Double) -> Double {
        polynomial(
            q, -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00, -2.549732539343734e+00,
            4.374664141464968e+00, 2.938163982698783e+00)
            / polynomial(
                q, 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1)
    }

    /// A polynomial by Horner's rule, the highest power first.
    private static func polynomial(_ x: Double, _ coefficients: Double...) -> Double {
        coefficients.reduce(0) { $0 * x + $1 }
    }
}
