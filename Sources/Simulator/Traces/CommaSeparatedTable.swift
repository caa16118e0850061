/// A table of numbers in text: a header of names, then a row per line (RFC 4180 without quotes, which numbers don't need).
///
/// Empty lines are skipped. A header is told from numbers: without one, the columns have no names.
struct CommaSeparatedTable {
    /// Rows of the longest table.
    static let rowLimit = NetworkTrace.stepLimit
    /// Columns of the widest table.
    static let columnLimit = 1000

    /// The names of the columns in lower case; empty without a header.
    private(set) var names: [String] = []
    /// The rows, each with the number of its line.
    private(set) var rows: [(line: Int, values: [Double])] = []

    init(_ bytes: [UInt8]) throws(TraceError) {
        try NetworkTrace.checkLength(bytes)
        var lines = TextLines(bytes)
        var columnCount: Int?
        while let line = lines.next() {
            guard line.count(where: { $0 == UInt8(ascii: ",") }) < Self.columnLimit else {
                throw .line(lines.number, expected: "at most \(Self.columnLimit) values")
            }
            let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Self.trimmed)
            guard fields.contains(where: { !$0.isEmpty }) else { continue }
            let values = fields.compactMap { Double($0) }.filter(\.isFinite)
            if let columnCount, fields.count != columnCount {
                throw .line(lines.number, expected: "\(columnCount) values")
            }
            if values.count == fields.count {
                guard rows.count < Self.rowLimit else { throw .tooManySteps(limit: Self.rowLimit) }
                rows.append((lines.number, values))
            } else if columnCount == nil, values.isEmpty {
                names = fields.map { $0.lowercased() }
            } else {
                throw .line(lines.number, expected: "numbers between the commas")
            }
            columnCount = fields.count
        }
    }

    private static func trimmed(_ field: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let field = field.drop(while: isSpace)
        return String(
            decoding: field[..<(field.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? field.startIndex)], as: UTF8.self)
    }
}
