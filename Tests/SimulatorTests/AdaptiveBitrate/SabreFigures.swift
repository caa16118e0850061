import Foundation
import Scheduling
import Simulator

/// What Sabre printed on the shared traces, and the traces and movies that it read.
struct SabreFigures: Decodable, Sendable {
    struct Trace: Decodable, Sendable {
        var movie: String
        var `default`: [String: Figures]
        var buffer10: [String: Figures]
        var osc_min: [String: Figures]
    }

    struct Figures: Decodable, Sendable {
        var time_average_played_bitrate: Double
        var rebuffer_ratio: Double
        var total_rebuffer_events: Double
        var time_average_bitrate_change: Double
        var time_average_score: Double
    }

    /// A trace with its movie and Sabre's figures.
    struct Case: Sendable, CustomStringConvertible {
        var name: String
        var network: NetworkTrace
        var movie: TraceMovie
        var figures: Trace

        var description: String { name }
        /// The set that it belongs to: its folder.
        var set: String { String(name.split(separator: "/")[0]) }
    }

    var traces: [String: Trace]

    /// All traces, sorted by name; none when the shared files are absent.
    static let cases: [Case] = {
        guard SharedFiles.arePresent else { return [] }
        do {
            let bytes = try SharedFiles.bytes("traces/sabre-expected.json")
            let figures = try JSONDecoder().decode(SabreFigures.self, from: Data(bytes))
            return try figures.traces.sorted { $0.key < $1.key }.map { name, trace in
                Case(
                    name: name, network: try NetworkTrace(sabre: SharedFiles.bytes("traces/\(name)")),
                    movie: try TraceMovie(sabre: SharedFiles.bytes("traces/sabre-manifests/\(trace.movie)")),
                    figures: trace)
            }
        } catch {
            fatalError("the shared traces can't be read: \(error)")
        }
    }()
}
