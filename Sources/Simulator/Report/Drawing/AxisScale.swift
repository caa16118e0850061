internal import Foundation

/// An axis with round numbers on it.
package struct AxisScale: Equatable, Sendable {
    package let low: Double
    package let high: Double
    package let ticks: [Double]
    private let decimals: Int

    /// - Parameters:
    ///   - low: Is kept when it is 0.
    ///   - high: The axis ends at the next tick, unless `isExact`.
    ///   - count: About how many ticks there are.
    package init(from low: Double, to high: Double, count: Int = 5, isExact: Bool = false) {
        let span = max(high - low, 1e-9)
        let rough = span / Double(max(1, count))
        let magnitude = pow(10, log10(rough).rounded(.down))
        // The next of 1, 2, 5 and 10 above; the tolerance keeps 2 from becoming 5.
        let step = ([1, 2, 5].first { $0 * magnitude >= rough * 0.999 } ?? 10) * magnitude
        decimals = max(0, -Int((log10(step) + 1e-9).rounded(.down)))
        // What is a tick but for the last bit is one.
        let tolerance = 1e-9
        let first = isExact ? (low / step - tolerance).rounded(.up) : (low / step + tolerance).rounded(.down)
        let last = isExact ? (high / step + tolerance).rounded(.down) : (high / step - tolerance).rounded(.up)
        ticks = stride(from: first, through: max(first, last), by: 1).map { $0 * step }
        self.low = isExact ? low : min(low, ticks.first ?? low)
        self.high = isExact ? max(high, low + span) : max(high, ticks.last ?? high)
    }

    package func label(_ tick: Double) -> String { Self.grouped(tick, decimals: decimals) }

    /// Where a value lies, from 0 to 1.
    func place(_ value: Double) -> Double { (value - low) / (high - low) }

    /// With commas between thousands.
    static func grouped(_ value: Double, decimals: Int) -> String {
        let text = String(format: "%.\(decimals)f", value == 0 ? 0 : value)
        let parts = text.split(separator: ".", maxSplits: 1)
        var whole = ""
        let digits = parts[0].drop { $0 == "-" }
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { whole += "," }
            whole.append(digit)
        }
        return (text.hasPrefix("-") ? "-" : "") + whole + (parts.count > 1 ? ".\(parts[1])" : "")
    }
}
