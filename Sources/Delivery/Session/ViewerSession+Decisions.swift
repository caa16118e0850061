import CoreModel
import EventLoop
import Foundation
import Scheduling

/// The decision log: what the scheduler was told and what it decided, a JSON document a line, so that a run can be
/// explained and replayed.
extension ViewerSession {
    private struct Line<Value: Encodable>: Encodable {
        var time: Int64
        var kind: String
        var value: Value
    }

    func note(_ input: SchedulerInput) { append(Line(time: loop.now.nanoseconds, kind: "input", value: input)) }

    func note(_ output: SchedulerOutput) { append(Line(time: loop.now.nanoseconds, kind: "output", value: output)) }

    private func append(_ line: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value of the log can be encoded; a line that could not would only be missing.
        guard let data = try? encoder.encode(line) else { return }
        decisions.append(String(decoding: data, as: UTF8.self))
    }
}
