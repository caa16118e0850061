import CommandLineSupport
import Delivery
import Foundation

/// Figures for people and for scripts.
enum FiguresReport {
    static func json(_ figures: SwarmFigures) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(figures) + Data("\n".utf8)
    }

    /// Writes what the options ask for and prints the rest; the exit code of the run.
    static func deliver(_ outcome: ViewerRun.Outcome, _ arguments: CommandArguments) throws -> ExitCode {
        if let path = arguments.value("stats") { try write(json(outcome.figures), to: path) }
        if let path = arguments.value("decisions") {
            for (index, lines) in outcome.decisions.enumerated() {
                let name = outcome.decisions.count == 1 ? path : "\(path).\(index)"
                try write(Data(lines.map { $0 + "\n" }.joined().utf8), to: name)
            }
        }
        if arguments.flag("json") {
            Terminal.print(String(decoding: try json(outcome.figures).dropLast(), as: UTF8.self))
        } else {
            for line in table(outcome.figures) { Terminal.print(line) }
        }
        for (index, failure) in outcome.failures.sorted(by: { $0.key < $1.key }) {
            Terminal.note(outcome.figures.viewers.count == 1 ? "pdn: \(failure)" : "viewer \(index): \(failure)")
        }
        if outcome.isInterrupted { return .interrupted }
        guard !outcome.failures.isEmpty else { return .done }
        guard outcome.figures.viewers.count == 1 else { return .failed }
        switch outcome.errorKind {
        case .unreachable: return .unreachable
        case .badInput: return .badInput
        case .other, nil: return .failed
        }
    }

    private static func write(_ data: Data, to path: String) throws {
        do {
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandFailure.failed("\(path) can't be written: \(error.localizedDescription)")
        }
    }

    private static func table(_ figures: SwarmFigures) -> [String] {
        let total = figures.total
        func share(_ value: Double?) -> String { value.map { String(format: "%.1f %%", $0 * 100) } ?? "-" }
        func number(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "-" }
        let bytes = figures.viewers.reduce(into: (store: 0, uploaded: 0, wasted: 0, verified: 0, banned: 0)) {
            $0.store += $1.bytes.store
            $0.uploaded += $1.bytes.uploaded
            $0.wasted += $1.bytes.wasted
            $0.verified += $1.chunksVerified
            $0.banned += $1.peersBanned
        }
        return [
            "viewers              \(figures.viewers.count)",
            "from the CDN         \(Quantity.describe(byteCount: total.bytesCDN))",
            "from peers           \(Quantity.describe(byteCount: total.bytesPeers))",
            "handed to players    \(Quantity.describe(byteCount: total.bytesDelivered))",
            "wasted               \(Quantity.describe(byteCount: bytes.wasted))",
            "offload              \(share(total.offload))",
            "copies per segment   \(number(total.copiesPerSegment))",
            "start-up, median     \(number(total.startupSecondsMedian)) s",
            "start-up, 95th       \(number(total.startupSecondsP95)) s",
            "stalls               \(total.stalls)",
            "chunks verified      \(bytes.verified)",
            "chunks rejected      \(total.chunksRejected)",
            "peers banned         \(bytes.banned)",
        ]
    }
}
