/// Why a file is no usable network trace; the file is at fault, and the text says where.
package enum TraceError: Error, Equatable, CustomStringConvertible {
    /// More bytes than are read.
    case tooLarge(byteCount: Int, limit: Int)
    /// More steps than are kept.
    case tooManySteps(limit: Int)
    /// A line that can't be read.
    case line(Int, expected: String)
    /// A CSV header without the column.
    case missingColumn(expected: String)
    /// No JSON text.
    case json(JSONError)
    /// An element of the JSON list that can't be read.
    case element(Int, expected: String)
    /// The trace carries nothing in all its length.
    case carriesNothing

    package var description: String {
        switch self {
        case .tooLarge(let byteCount, let limit): "\(byteCount) bytes; at most \(limit) are read"
        case .tooManySteps(let limit): "more than \(limit) steps"
        case .line(let line, let expected): "line \(line): expected \(expected)"
        case .missingColumn(let expected): "line 1: no column \(expected)"
        case .json(let error): "\(error)"
        case .element(let index, let expected): "element \(index): expected \(expected)"
        case .carriesNothing: "the trace carries nothing"
        }
    }
}
