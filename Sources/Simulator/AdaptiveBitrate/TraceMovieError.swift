/// Why a file is no title for playing on a trace; the file is at fault, and the text says where.
package enum TraceMovieError: Error, Equatable, CustomStringConvertible {
    /// No JSON text.
    case json(JSONError)
    /// A value that is missing or can't be used.
    case value(String, expected: String)

    package var description: String {
        switch self {
        case .json(let error): "\(error)"
        case .value(let key, let expected): "\(key): expected \(expected)"
        }
    }
}
