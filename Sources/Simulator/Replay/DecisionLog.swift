package import CoreModel
internal import Foundation
package import Scheduling

/// A decision log in memory: the configuration of a scheduler and every call to it, in order.
package struct DecisionLog: Sendable, Equatable {
    /// How the scheduler was set up.
    package var configuration: SchedulerConfiguration
    /// When the log begins.
    package var startsAt: MonotonicInstant
    /// What went in and came out; no configuration among them.
    package var entries: [DecisionEntry]

    package init(configuration: SchedulerConfiguration, startsAt: MonotonicInstant, entries: [DecisionEntry]) {
        self.configuration = configuration
        self.startsAt = startsAt
        self.entries = entries
    }

    /// The line of the file that an entry is in.
    package static func line(ofEntry index: Int) -> Int { index + 2 }
}

extension DecisionLog {
    /// Bytes of the longest log that is read: an evening of a busy viewer.
    package static let byteLimit = 1 << 30
    /// Bytes of the longest line: the timeline of a day in segments of a second takes a tenth of it.
    package static let lineByteLimit = 64 << 20

    /// Reads a log as `pdn play` and `pdn swarm` write it: a JSON document a line, the configuration in the first.
    ///
    /// - Throws: An error that names the line. Numbers that could make a scheduler trap are errors too.
    package init(_ bytes: [UInt8]) throws(DecisionLogError) {
        guard bytes.count <= Self.byteLimit else {
            throw .tooLarge(byteCount: bytes.count, limit: Self.byteLimit)
        }
        var lines = TextLines(bytes)
        guard let first = lines.next() else { throw .empty }
        let head = try Self.entry(first, line: 1)
        guard case .configuration(let configuration) = head.event else { throw .noConfiguration }
        self.init(configuration: configuration, startsAt: head.time, entries: [])
        var last = head.time
        while let line = lines.next() {
            let entry = try Self.entry(line, line: lines.number)
            if case .configuration = entry.event { throw .secondConfiguration(line: lines.number) }
            guard entry.time >= last else { throw .timeRunsBack(line: lines.number) }
            last = entry.time
            entries.append(entry)
        }
    }

    private static func entry(_ text: ArraySlice<UInt8>, line: Int) throws(DecisionLogError) -> DecisionEntry {
        guard text.count <= lineByteLimit else { throw .lineTooLong(line: line, limit: lineByteLimit) }
        let entry: DecisionEntry
        do {
            entry = try JSONDecoder().decode(DecisionEntry.self, from: Data(text))
        } catch let error as DecodingError {
            throw .malformed(line: line, why: sentence(error))
        } catch {
            throw .malformed(line: line, why: "\(error)")
        }
        if let what = DecisionBounds.violation(in: entry) { throw .outOfRange(line: line, what: what) }
        return entry
    }

    private static func sentence(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey], _ key: String? = nil) -> String {
            let names = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue } + (key.map { [$0] } ?? [])
            return names.isEmpty ? "the line" : names.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(place(context.codingPath, key.stringValue)) is missing"
        case .typeMismatch(_, let context): return "\(place(context.codingPath)) is of another type"
        case .valueNotFound(_, let context): return "\(place(context.codingPath)) is null"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "expected a JSON document" : "\(place(context.codingPath)) can't be read"
        @unknown default: return "expected an entry of a decision log"
        }
    }
}
