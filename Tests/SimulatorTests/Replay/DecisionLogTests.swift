import CoreModel
import Foundation
import Scheduling
import Simulator
import Testing

/// A log of one viewer as a driver writes it, in virtual time.
struct LogWriter {
    private(set) var entries: [DecisionEntry] = []
    private var scheduler: Scheduler
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    let startsAt: MonotonicInstant

    init(_ configuration: SchedulerConfiguration = SchedulerConfiguration()) {
        scheduler = Scheduler(configuration: configuration)
        startsAt = now
    }

    var log: DecisionLog {
        DecisionLog(configuration: scheduler.configuration, startsAt: startsAt, entries: entries)
    }

    /// The log's file.
    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let head = DecisionEntry(time: startsAt, event: .configuration(scheduler.configuration))
            return try ([head] + entries).flatMap { try Array(encoder.encode($0)) + [UInt8(ascii: "\n")] }
        }
    }

    /// Gives an input and takes every decision out.
    @discardableResult
    mutating func feed(_ input: SchedulerInput, after span: Duration = .zero) -> [SchedulerOutput] {
        now = now.advanced(by: span)
        scheduler.handle(input, now: now)
        entries.append(DecisionEntry(time: now, event: .input(input)))
        var outputs: [SchedulerOutput] = []
        while true {
            let output = scheduler.poll(now: now)
            entries.append(DecisionEntry(time: now, event: .output(output)))
            if case .wait = output { return outputs }
            outputs.append(output)
        }
    }

    /// A viewer of a title of ten segments of two seconds and 40 chunks, which starts and has three peers.
    static func started() -> LogWriter {
        var writer = LogWriter()
        writer.feed(.swarm(.joined(size: 4)))
        writer.feed(
            .segments(
                track: 0,
                (0..<10).map {
                    SegmentDescription(
                        start: .seconds(2 * $0), duration: .seconds(2), estimatedByteCount: 40 * 16_384,
                        playsProgressively: true)
                }))
        writer.feed(.playback(position: .zero, isPlaying: false))
        for index in 0..<10 {
            writer.feed(
                .record(SegmentID(track: 0, index: index), key: UInt64(index), byteCount: 40 * 16_384, draw: 0.5),
                after: .milliseconds(1))
        }
        for peer in 0..<3 {
            writer.feed(
                .peerJoined(PeerKey(rawValue: peer), member: MemberID(rawValue: UInt64(peer)), uploads: true),
                after: .milliseconds(1))
        }
        return writer
    }
}

@Suite struct DecisionLogTests {
    private static func error(_ text: String) -> DecisionLogError? {
        do {
            _ = try DecisionLog(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// The lines of a good log.
    private static func lines() throws -> [String] {
        String(decoding: try LogWriter.started().bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func aLogReadsAsItWasWritten() throws {
        let writer = LogWriter.started()
        #expect(try DecisionLog(writer.bytes) == writer.log)
    }

    @Test func theLinesFieldsAreThoseThatLogsAlwaysHad() throws {
        let entry = DecisionEntry(
            time: MonotonicInstant(nanoseconds: 5), event: .input(.cdnFinished(TransferID(rawValue: 7))))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        #expect(
            String(decoding: try encoder.encode(entry), as: UTF8.self)
                == #"{"kind":"input","time":5,"value":{"cdnFinished":{"_0":{"rawValue":7}}}}"#)
    }

    @Test func aLogWithoutItsConfigurationIsRefused() throws {
        let lines = try Self.lines()
        #expect(Self.error("") == .empty)
        #expect(Self.error(lines.dropFirst().joined(separator: "\n")) == .noConfiguration)
        #expect(Self.error((lines + [lines[0]]).joined(separator: "\n")) == .secondConfiguration(line: lines.count + 1))
    }

    @Test(arguments: [
        ("", "expected a JSON document"),
        ("{", "expected a JSON document"),
        ("[]", "the line is of another type"),
        (#"{"kind":"input","value":{"timer":{}}}"#, "time is missing"),
        (#"{"kind":"guess","time":5000000000,"value":{"timer":{}}}"#, "kind can't be read"),
        (#"{"kind":"input","time":"5","value":{"timer":{}}}"#, "time is of another type"),
        (#"{"kind":"input","time":5000000000,"value":{"seek":{"position":null}}}"#, "value.seek.position is null"),
        (
            #"{"kind":"input","time":5000000000,"value":{"cdnArrived":{"_0":{"rawValue":1},"chunks":[4,2]}}}"#,
            "value.cdnArrived.chunks can't be read"
        ),
    ])
    func aLineThatIsNoEntryIsNamed(_ text: String, _ why: String) throws {
        let lines = try Self.lines()
        let found = try #require(Self.error((lines.prefix(3) + [text] + lines.suffix(1)).joined(separator: "\n")))
        guard case .malformed(let line, let reason) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(line == 4)
        // What the decoder of the system says of a wrong value differs between its versions in the place alone.
        #expect(reason == why || reason.hasPrefix("value."))
    }

    @Test func valuesThatNoDriverSaysAreRefused() throws {
        let id = SegmentID(track: 0, index: 0)
        let wrong: [(SchedulerInput, String)] = [
            (.segments(track: 1 << 40, []), "the track"),
            (.segments(track: -1, []), "the track"),
            (.size(SegmentID(track: 0, index: -1), byteCount: 1), "the segment"),
            (.size(id, byteCount: -1), "the number of bytes"),
            (.record(id, key: 0, byteCount: 1, draw: 2), "the draw"),
            (.cdnArrived(TransferID(rawValue: 1), chunks: -3..<2), "the range of chunks"),
            (.cdnArrived(TransferID(rawValue: 1), chunks: 0..<1 << 50), "the range of chunks"),
            (.chunkArrived(RequestID(rawValue: 1), chunk: 1 << 20, byteCount: 1), "the chunk"),
            (.seek(position: .seconds(Int64.max)), "the time"),
            (.peerHolds(PeerKey(rawValue: 0), id, Holding(verified: ChunkSet(0..<5000))), "the set of chunks"),
        ]
        let encoder = JSONEncoder()
        let head = String(decoding: try LogWriter().bytes, as: UTF8.self)
        for (input, what) in wrong {
            let line = try encoder.encode(
                DecisionEntry(time: MonotonicInstant(nanoseconds: 2_000_000_000), event: .input(input)))
            #expect(Self.error(head + String(decoding: line, as: UTF8.self)) == .outOfRange(line: 2, what: what))
        }
        var configuration = SchedulerConfiguration()
        configuration.peerQueue = .seconds(-1)
        #expect(
            Self.error(String(decoding: try LogWriter(configuration).bytes, as: UTF8.self))
                == .outOfRange(line: 1, what: "peerQueue"))
    }

    @Test func timeDoesNotRunBack() throws {
        var lines = try Self.lines()
        lines.append(#"{"kind":"input","time":5,"value":{"timer":{}}}"#)
        #expect(Self.error(lines.joined(separator: "\n")) == .timeRunsBack(line: lines.count))
    }
}
