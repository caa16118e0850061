internal import CommandLineSupport
internal import CoreModel

/// What a number in a scenario measures: how it is written, and how errors speak of it.
enum ScenarioUnit {
    /// Kept in seconds.
    case duration
    /// Kept in bits a second.
    case rate
    /// Kept in bytes.
    case size
    /// A part of a whole, from 0 to 1.
    case share
    /// No unit.
    case number

    /// The number that `value` stands for, in the unit it is kept in.
    func parse(_ value: JSONValue) -> Double? {
        switch (self, value) {
        case (_, .integer(let value)): Double(value)
        case (_, .number(let value)): value
        case (.duration, .string(let text)):
            text.hasPrefix("-")
                ? Quantity.duration(String(text.dropFirst())).map { -$0.inSeconds }
                : Quantity.duration(text)?.inSeconds
        case (.rate, .string(let text)): Quantity.bitsPerSecond(text).map(Double.init)
        case (.size, .string(let text)): Quantity.byteCount(text).map(Double.init)
        case _: nil
        }
    }

    /// What may stand in the file, in words.
    func allowed(_ range: ClosedRange<Double>) -> String {
        let kind =
            switch self {
            case .duration: "a duration such as 4s, 250ms or 10min"
            case .rate: "a rate such as 5Mbps or 600kbps"
            case .size: "a size such as 64MiB"
            case .share, .number: "a number"
            }
        return "\(kind), from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    private func text(_ value: Double) -> String {
        let number = value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
        return switch self {
        case .duration: "\(number)s"
        case .rate: "\(number)bps"
        case .size: "\(number)B"
        case .share, .number: number
        }
    }
}
