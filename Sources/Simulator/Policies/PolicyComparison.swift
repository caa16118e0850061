package import CommandLineSupport

/// Runs of one scenario under several policies with the same seeds, side by side.
package struct PolicyComparison: Sendable {
    package struct Row: Sendable {
        package let policy: DeliveryPolicy
        /// One for each seed, in the same order in every row.
        package let runs: [SimulationResult]

        /// A figure's mean over the seeds.
        package func mean(_ figure: (SimulationResult) -> Double?) -> Double? {
            MeanInterval(runs.compactMap(figure))?.mean
        }
    }

    package private(set) var rows: [Row] = []

    package init() {}

    package mutating func add(_ runs: [SimulationResult], of policy: DeliveryPolicy) {
        precondition(!runs.isEmpty && runs.map(\.seed) == (rows.first?.runs.map(\.seed) ?? runs.map(\.seed)))
        rows.append(Row(policy: policy, runs: runs))
    }

    package func row(_ policy: DeliveryPolicy) -> Row? { rows.first { $0.policy == policy } }

    /// The hard bound of our runs, beside which all stand: bounds depend a little on what a run delivered.
    package var bound: Double? { (row(.ours) ?? rows.first)?.mean { $0.limits.tightestHard?.value } }

    /// Whether ours is ever worse than the CDN alone; `nil` when one of the two is missing.
    package var pairing: PolicyPairing? {
        guard let ours = row(.ours), let plain = row(.cdnOnly) else { return nil }
        return PolicyPairing(runs: ours.runs, baseline: plain.runs)
    }

    package var json: JSONValue {
        [
            "scenario": JSONValue(rows.first?.runs[0].scenario),
            "seeds": .array(rows.first?.runs.map { JSONValue($0.seed) } ?? []),
            "viewers": JSONValue(rows.first?.runs[0].viewerCount), "bound": JSONValue(bound),
            "policies": .array(rows.map(\.json)), "againstCDNOnly": pairing?.json ?? .null,
        ]
    }

    /// What a terminal shows.
    package var lines: [String] {
        guard let first = rows.first?.runs.first else { return [] }
        let seeds = rows[0].runs.map { String($0.seed) }.joined(separator: ", ")
        return ["\(first.scenario), seed \(seeds), \(first.viewerCount) viewers"] + table.map { "  \($0)" }
            + (bound.map { ["  at most an offload of \(Self.text($0, 3))"] } ?? [])
            + (pairing.map { ["Ours against the CDN alone:"] + $0.lines.map { "  \($0)" } } ?? [])
    }

    private static let columns: [(heading: String, digits: Int, value: @Sendable (SimulationResult) -> Double?)] = [
        ("offload", 3, { $0.total.offload }), ("copies", 2, { $0.total.copiesPerSegment }),
        ("stalls", 1, { Double($0.total.stalls) }), ("stall s", 1, { $0.total.stallSeconds }),
        ("stalled", 1, { Double($0.total.stalledViewers) }), ("start-up s", 3, { $0.total.startupSecondsMedian }),
        ("Mbps", 2, { $0.total.meanBitrate.map { $0 / 1e6 } }), ("CDN peak Mbps", 1, { $0.cdnRate.peak / 1e6 }),
    ]

    /// The figures as a table, a heading first; means when there are several seeds.
    var cells: [[String]] {
        let heading = ["policy"] + Self.columns.map(\.heading)
        return [heading]
            + rows.map { row in
                [row.policy.rawValue] + Self.columns.map { Self.text(row.mean($0.value), $0.digits) }
            }
    }

    /// The same as lines of text.
    package var table: [String] {
        let lines = cells
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { cells in
            cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }
    }

    /// A number with so many digits behind the point.
    static func text(_ value: Double?, _ digits: Int) -> String {
        guard let value, value.isFinite else { return "-" }
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return (value < 0 && scaled > 0 ? "-" : "") + "\(scaled / scale).\(zeros)\(fraction)"
    }
}

extension PolicyComparison.Row {
    fileprivate var json: JSONValue {
        [
            "policy": .string(policy.rawValue), "meaning": .string(policy.summary),
            "cdnPeakBitsPerSecond": JSONValue(mean { $0.cdnRate.peak }),
            "runs": .array(runs.map(\.totalJSON)),
        ]
    }
}
