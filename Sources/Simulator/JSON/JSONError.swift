/// Why a text is no JSON document, and where.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// What would have been right here, in words.
        case expected(String)
        /// An object names this member twice.
        case duplicateMember(String)
        /// Arrays and objects are nested deeper than this.
        case tooDeep(limit: Int)
        /// The text has more bytes than this.
        case tooLong(limit: Int)
    }

    /// The line, from 1.
    package var line: Int
    /// The byte in the line, from 1.
    package var column: Int
    package var reason: Reason

    package init(line: Int, column: Int, reason: Reason) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    package var description: String {
        let what =
            switch reason {
            case .expected(let what): "expected \(what)"
            case .duplicateMember(let name): "the key \"\(name)\" is there twice"
            case .tooDeep(let limit): "nested deeper than \(limit)"
            case .tooLong(let limit): "longer than \(limit) bytes"
            }
        return "line \(line), column \(column): \(what)"
    }
}
