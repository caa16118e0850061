import CoreModel
import EventLoop
import Foundation
import Scheduling
import ViewerCore

/// The decision log: what the scheduler was told and what it decided, a JSON document a line, so that a run can be
/// explained and replayed.
extension ViewerSession {
    /// Tells the scheduler something; the log has it with the instant that the scheduler gets.
    func tellScheduler(_ input: SchedulerInput) {
        let now = loop.now
        note(.input(input), at: now)
        scheduler.handle(input, now: now)
    }

    /// Asks the scheduler for the next thing to do.
    func askScheduler() -> SchedulerOutput {
        let now = loop.now
        let output = scheduler.poll(now: now)
        note(.output(output), at: now)
        return output
    }

    /// Begins the log.
    func noteConfiguration() { note(.configuration(scheduler.configuration), at: loop.now) }

    /// Notes which rendition was chosen for a segment.
    func note(_ decision: BitrateDecision, of id: SegmentID) {
        guard let rate = tracks[id.track].renditions?.plan.bitsPerSecond(id.index) else { return }
        note(.choice(id, decision, bitsPerSecond: rate), at: loop.now)
    }

    private func note(_ event: @autoclosure () -> DecisionEntry.Event, at time: MonotonicInstant) {
        guard configuration.keepsDecisions else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value of the log can be encoded; a line that could not would only be missing.
        guard let data = try? encoder.encode(DecisionEntry(time: time, event: event())) else { return }
        decisions.append(String(decoding: data, as: UTF8.self))
    }
}
