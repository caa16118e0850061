/// The arguments of one call of a command.
public struct CommandArguments: Sendable {
    /// The arguments that are no options, in order.
    public let operands: [String]
    private let values: [String: [String]]

    /// Makes arguments from what a parser found.
    public init(operands: [String] = [], values: [String: [String]] = [:]) {
        self.operands = operands
        self.values = values
    }

    /// Whether a flag is set.
    public func flag(_ name: String) -> Bool { values[name]?.last == "true" }

    /// The value of an option, the last one given.
    public func value(_ name: String) -> String? { values[name]?.last }

    /// All values of a repeatable option, in order.
    public func values(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of a required option; the parser has made sure of it.
    public func required(_ name: String) -> String {
        guard let value = value(name) else { preconditionFailure("--\(name) is not declared as required") }
        return value
    }

    /// A whole number within `range`, or `fallback` when the option is absent.
    public func integer<Number: FixedWidthInteger>(
        _ name: String, in range: ClosedRange<Number>, default fallback: Number
    ) throws(CommandFailure) -> Number {
        guard let text = value(name) else { return fallback }
        guard let number = Number(text), range.contains(number) else {
            throw .usage(
                "--\(name) wants a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    /// A span of time: `4s`, `250ms`, `10min`, `2h`, a bare number is seconds.
    public func duration(_ name: String) throws(CommandFailure) -> Duration? {
        try quantity(name, "a duration such as 4s, 250ms or 10min", Quantity.duration)
    }

    /// A rate in bits per second: `5Mbps`, `600kbps`.
    public func bitsPerSecond(_ name: String) throws(CommandFailure) -> Int? {
        try quantity(name, "a rate such as 5Mbps or 600kbps", Quantity.bitsPerSecond)
    }

    /// A size in bytes: `64MiB`.
    public func byteCount(_ name: String) throws(CommandFailure) -> Int? {
        try quantity(name, "a size such as 64MiB", Quantity.byteCount)
    }

    /// One of a few words; `fallback` when the option is absent.
    public func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default fallback: Choice? = nil
    ) throws(CommandFailure) -> Choice {
        if value(name) == nil, let fallback { return fallback }
        return try choice(name, value(name))
    }

    /// Some of a few words, each once, in the order given; empty when the option is absent.
    public func choices<Choice: RawRepresentable<String> & CaseIterable & Equatable>(
        _ name: String
    ) throws(CommandFailure) -> [Choice] {
        var choices: [Choice] = []
        for text in values(name) {
            let choice: Choice = try choice(name, text)
            guard !choices.contains(choice) else { throw .usage("--\(name) \(text) is given twice") }
            choices.append(choice)
        }
        return choices
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ text: String?
    ) throws(CommandFailure) -> Choice {
        guard let choice = text.flatMap(Choice.init) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--\(name) is one of \(words)" + (text.map { ", not \($0)" } ?? ""))
        }
        return choice
    }

    private func quantity<Value>(
        _ name: String, _ wanted: String, _ parse: (String) -> Value?
    ) throws(CommandFailure) -> Value? {
        guard let text = value(name) else { return nil }
        guard let value = parse(text) else { throw .usage("--\(name) wants \(wanted), not \(text)") }
        return value
    }
}
