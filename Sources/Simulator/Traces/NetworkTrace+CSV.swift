internal import CoreModel

extension NetworkTrace {
    /// Reads a trace from a table.
    ///
    /// The header names a time column, `t_s`, `t_ms`, `time_s` or `time_ms`, and a rate column for the direction:
    /// `down`, `download`, `up` or `upload`, or for both `rate` or `bandwidth`, followed by `_bps`, `_kbps` or `_mbps`.
    /// `latency_ms` or `rtt_ms` may be there. Further columns are ignored.
    ///
    /// A row's rate holds until the next row, but no longer than the median of the rows' distances: a longer gap is one in
    /// the measurement and not on the link, and is cut out.
    package init(csv bytes: [UInt8], direction: LinkDirection = .down) throws(TraceError) {
        let table = try CommaSeparatedTable(bytes)
        let times = ["t", "time"].flatMap { [($0 + "_s", 1.0), ($0 + "_ms", 1e-3)] }
        let prefixes: [String] =
            switch direction {
            case .down: ["down", "download", "rate", "bandwidth"]
            case .up: ["up", "upload", "rate", "bandwidth"]
            }
        let rates = prefixes.flatMap { [($0 + "_bps", 1.0), ($0 + "_kbps", 1e3), ($0 + "_mbps", 1e6)] }
        guard let time = Self.column(times, in: table) else { throw .missingColumn(expected: "t_s or t_ms") }
        guard let rate = Self.column(rates, in: table) else {
            throw .missingColumn(expected: "\(direction)_kbps, \(direction)_mbps or \(direction)_bps")
        }
        let latency = Self.column([("latency_ms", 1e-3), ("rtt_ms", 1e-3)], in: table)

        for (row, next) in zip(table.rows, table.rows.dropFirst())
        where next.values[time.index] <= row.values[time.index] {
            throw .line(next.line, expected: "a time after that of the line above")
        }
        let instants = table.rows.map { $0.values[time.index] * time.factor }
        let gaps = zip(instants, instants.dropFirst()).map { $1 - $0 }
        let usual = gaps.isEmpty ? 1 : gaps.sorted()[gaps.count / 2]
        var steps: [Step] = []
        steps.reserveCapacity(table.rows.count)
        for (index, row) in table.rows.enumerated() {
            let bits = row.values[rate.index] * rate.factor
            guard (0...1e15).contains(bits) else {
                throw .line(row.line, expected: "a rate from 0 to 1e15 bits a second")
            }
            let delay = latency.map { row.values[$0.index] * $0.factor } ?? 0
            guard (0...3600).contains(delay) else { throw .line(row.line, expected: "a latency from 0 to an hour") }
            let span = min(usual, index < gaps.count ? gaps[index] : usual)
            guard span >= 1e-9, span <= 1e9 else { throw .line(row.line, expected: "a time within 1e9 s of the next") }
            steps.append(
                Step(
                    duration: .clamping(seconds: span), bitsPerSecond: Int(bits.rounded()),
                    latency: .clamping(seconds: delay)))
        }
        guard let trace = NetworkTrace(steps: steps) else { throw .carriesNothing }
        self = trace
    }

    private static func column(
        _ candidates: [(name: String, factor: Double)], in table: CommaSeparatedTable
    ) -> (index: Int, factor: Double)? {
        for (name, factor) in candidates {
            if let index = table.names.firstIndex(of: name) { return (index, factor) }
        }
        return nil
    }
}
