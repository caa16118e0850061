/// The mean of a figure over several seeds, and the interval in which the true mean lies with a confidence of 95 %, if the
/// figure is about normal (Student's t).
package struct MeanInterval: Sendable, Equatable {
    package static let confidence = 0.95

    package let count: Int
    package let mean: Double
    /// Of the sample, with n − 1; `nil` for one value.
    package let standardDeviation: Double?
    /// Half the interval's width; `nil` for one value.
    package let halfWidth: Double?

    package var low: Double? { halfWidth.map { mean - $0 } }
    package var high: Double? { halfWidth.map { mean + $0 } }

    /// `nil` without values.
    package init?(_ values: [Double]) {
        guard !values.isEmpty else { return nil }
        count = values.count
        let number = Double(values.count)
        let mean = values.reduce(0, +) / number
        self.mean = mean
        guard values.count > 1 else {
            standardDeviation = nil
            halfWidth = nil
            return
        }
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (number - 1)
        standardDeviation = variance.squareRoot()
        let quantile = StudentDistribution.quantile(within: Self.confidence, degrees: values.count - 1)
        halfWidth = quantile * (variance / number).squareRoot()
    }
}
