import CoreModel
import Scheduling
import Simulator
import Testing

@Suite struct ReplayTests {
    @Test func aLogGivesTheSameDecisionsAgain() throws {
        let writer = LogWriter.started()
        guard case .same(let inputs, let decisions) = Replay.run(try DecisionLog(writer.bytes)) else {
            Issue.record("the decisions differ")
            return
        }
        #expect(inputs == 16)
        #expect(decisions == writer.entries.count - 16 - waits(writer.entries))
        #expect(decisions > 0)
    }

    private func waits(_ entries: [DecisionEntry]) -> Int {
        entries.count { if case .output(.wait) = $0.event { true } else { false } }
    }

    @Test func anAlteredDecisionIsFoundAtItsLine() throws {
        var log = LogWriter.started().log
        let index = try #require(
            log.entries.firstIndex { if case .output(.fetch) = $0.event { true } else { false } })
        guard case .output(let right) = log.entries[index].event,
            case .fetch(let id, let segment, _, let reason) = right
        else { return }
        let altered = SchedulerOutput.fetch(id, segment, chunks: 3..<4, reason)
        log.entries[index].event = .output(altered)
        #expect(
            Replay.run(log)
                == .different(Replay.Difference(line: index + 2, expected: altered, got: right)))
    }

    @Test func aMissingDecisionIsFoundWhereItWasToBe() throws {
        var log = LogWriter.started().log
        let index = try #require(
            log.entries.firstIndex { if case .output(.fetch) = $0.event { true } else { false } })
        log.entries.remove(at: index)
        guard case .different(let difference) = Replay.run(log) else {
            Issue.record("nothing found")
            return
        }
        #expect(difference.line == index + 2)
    }

    @Test func anotherConfigurationIsAnotherLog() throws {
        var log = LogWriter.started().log
        log.configuration.startupStripes = 4
        guard case .different = Replay.run(log) else {
            Issue.record("nothing found")
            return
        }
    }
}
