/// What a command is called, what it does and what it takes: the source of its parser and of its help.
public struct CommandSpecification: Sendable {
    /// The full name as typed: `pdn sign`.
    public let name: String
    /// What the command does, in one line without a full stop.
    public let summary: String
    /// What stands for the arguments that are no options in the help: `MANIFEST…`.
    public let operands: String
    /// How many of those there may be.
    public let operandCount: ClosedRange<Int>
    /// The options, in the order of the help; `--help`, `--version` and `--config` are always understood.
    public let options: [CommandOption]
    /// Lines below the options in the help.
    public let notes: [String]

    /// Describes a command.
    public init(
        name: String, summary: String, operands: String = "", operandCount: ClosedRange<Int> = 0...0,
        options: [CommandOption], notes: [String] = []
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        self.operandCount = operandCount
        self.options = options
        self.notes = notes
    }

    static let common: [CommandOption] = [
        .value("config", "FILE", "take options from a JSON file; the command line comes first"),
        .flag("help", "show this help"),
        .flag("version", "show the version"),
    ]

    /// The help text, wrapped for a terminal of 100 columns.
    public var help: String {
        var lines = ["\(name): \(summary)", ""]
        lines.append("usage: \(name) [options]" + (operands.isEmpty ? "" : " \(operands)"))
        lines.append("")
        let all = options + Self.common
        let heads = all.map { option in
            "  --\(option.name)" + (option.form == .flag ? "" : " \(option.placeholder)")
        }
        let column = min(34, (heads.map(\.count).max() ?? 0) + 2)
        for (option, head) in zip(all, heads) {
            let notes = (option.isRequired ? " (required)" : "") + (option.form == .repeated ? " (repeatable)" : "")
            let text = TextLayout.wrap(option.summary + notes, width: 100 - column)
            var first = head
            if head.count + 2 > column {
                lines.append(head)
                first = ""
            }
            for (index, line) in text.enumerated() {
                let left = index == 0 ? first : ""
                lines.append(left + String(repeating: " ", count: column - left.count) + line)
            }
        }
        if !notes.isEmpty { lines += [""] + notes.flatMap { TextLayout.wrap($0, width: 100) } }
        return lines.joined(separator: "\n")
    }
}
