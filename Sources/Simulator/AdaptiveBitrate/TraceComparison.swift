internal import Foundation
package import Scheduling

/// Rules side by side on the same traces.
package struct TraceComparison: Sendable {
    /// What one rule reached on one trace.
    package struct Row: Sendable, Equatable {
        package var trace: String
        package var algorithm: BitrateAlgorithm
        package var figures: PlaybackFigures
    }

    /// By trace, then by rule, in the order given.
    package private(set) var rows: [Row] = []
    private let algorithms: [BitrateAlgorithm]

    package init(_ algorithms: [BitrateAlgorithm] = [.outlook, .bolaE, .bola, .dynamic, .throughput]) {
        self.algorithms = algorithms
    }

    /// Plays the movie over a trace with each rule.
    package mutating func play(_ movie: TraceMovie, over trace: NetworkTrace, named name: String) {
        for algorithm in algorithms {
            var options = TracePlayback.Options()
            options.algorithm = algorithm
            var playback = TracePlayback(movie, over: trace, options: options)
            rows.append(Row(trace: name, algorithm: algorithm, figures: playback.run()))
        }
    }

    /// A table: score, mean bitrate in kbit/s, share of stalls and number of switches of each rule on each trace, and the mean
    /// scores.
    package var text: String {
        var lines = [Self.line("trace", "rule", "score", "kbit/s", "stalled", "switches")]
        for row in rows {
            let figures = row.figures
            lines.append(
                Self.line(
                    row.trace, row.algorithm.rawValue, Self.decimal(figures.score, 4),
                    Self.decimal(figures.meanKilobitsPerSecond, 1), Self.decimal(figures.rebufferRatio, 4),
                    "\(figures.switches)"))
        }
        for algorithm in algorithms {
            let scores = rows.filter { $0.algorithm == algorithm }.map(\.figures.score)
            guard !scores.isEmpty else { continue }
            let mean = scores.reduce(0, +) / Double(scores.count)
            lines.append(Self.line("mean", algorithm.rawValue, Self.decimal(mean, 4), "", "", ""))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func decimal(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }

    private static func line(_ cells: String...) -> String {
        let widths = [36, 12]
        var line = ""
        for (index, cell) in cells.enumerated() {
            if index < widths.count {
                line += cell + String(repeating: " ", count: max(widths[index] - cell.count, 1))
            } else {
                line += String(repeating: " ", count: max(10 - cell.count, 1)) + cell
            }
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
