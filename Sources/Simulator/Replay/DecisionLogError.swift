/// Why a file is no usable decision log; the file is at fault, and the text says where.
package enum DecisionLogError: Error, Equatable, CustomStringConvertible {
    /// More bytes than are read.
    case tooLarge(byteCount: Int, limit: Int)
    /// A line with more bytes than are read.
    case lineTooLong(line: Int, limit: Int)
    /// A log without a line.
    case empty
    /// The first line is not the scheduler's configuration, without which nothing can be replayed.
    case noConfiguration
    /// A configuration behind the first line.
    case secondConfiguration(line: Int)
    /// A line that is no entry; `why` says what was expected or is missing.
    case malformed(line: Int, why: String)
    /// A value that no scheduler is ever given.
    case outOfRange(line: Int, what: String)
    /// A time before that of the line above.
    case timeRunsBack(line: Int)

    package var description: String {
        switch self {
        case .tooLarge(let byteCount, let limit): "\(byteCount) bytes; at most \(limit) are read"
        case .lineTooLong(let line, let limit): "line \(line): longer than \(limit) bytes"
        case .empty: "the log is empty"
        case .noConfiguration: "line 1: expected the scheduler's configuration"
        case .secondConfiguration(let line): "line \(line): a second configuration"
        case .malformed(let line, let why): "line \(line): \(why)"
        case .outOfRange(let line, let what): "line \(line): \(what) is out of range"
        case .timeRunsBack(let line): "line \(line): earlier than the line before"
        }
    }
}
