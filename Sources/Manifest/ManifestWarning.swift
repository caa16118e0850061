/// A fault of a manifest that could be passed over.
public struct ManifestWarning: Hashable, Sendable, CustomStringConvertible {
    /// Where it is, counted from 1; 0 when it belongs to no line.
    public var line: Int
    /// What is wrong and what was done about it.
    public var message: String

    /// Makes a warning.
    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }

    public var description: String { line > 0 ? "line \(line): \(message)" : message }

    /// Warnings kept for one manifest; further ones are dropped.
    static let limit = 64
}

extension [ManifestWarning] {
    mutating func warn(_ message: @autoclosure () -> String, line: Int) {
        if count < ManifestWarning.limit { append(ManifestWarning(line: line, message: message())) }
    }
}
