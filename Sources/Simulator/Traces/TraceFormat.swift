/// How a network trace is written down.
package enum TraceFormat: String, CaseIterable, Sendable {
    /// A JSON list of `{duration_ms, bandwidth_kbps, latency_ms}`, as Sabre reads it.
    case sabre
    /// A line per packet of 1,500 bytes that may leave, with its millisecond, as mahimahi reads it.
    case mahimahi
    /// A header that names columns with their units, and a line per sample.
    case csv
}

/// The way of a link's bits.
package enum LinkDirection: String, CaseIterable, Sendable {
    case down
    case up
}

extension NetworkTrace {
    /// Bytes of the largest file that is read.
    package static let byteLimit = 64 << 20
    /// Steps of the longest trace.
    package static let stepLimit = 1 << 20

    /// Reads a trace of any format.
    ///
    /// - Parameter direction: Which of a CSV file's columns; a file of the other formats holds one direction.
    package init(_ bytes: [UInt8], format: TraceFormat, direction: LinkDirection = .down) throws(TraceError) {
        switch format {
        case .sabre: try self.init(sabre: bytes)
        case .mahimahi: try self.init(mahimahi: bytes)
        case .csv: try self.init(csv: bytes, direction: direction)
        }
    }

    static func checkLength(_ bytes: [UInt8]) throws(TraceError) {
        guard bytes.count <= byteLimit else { throw .tooLarge(byteCount: bytes.count, limit: byteLimit) }
    }
}
