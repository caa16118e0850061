import CoreModel
import Delivery
import MediaEngine

/// Follows an engine's events into the report that a session asks for.
struct PlaybackFigures: Sendable {
    private let startedAt: MonotonicInstant
    private var report = PlaybackReport()
    private var runningSince: MonotonicInstant?
    private var stalledSince: MonotonicInstant?
    /// The end of a stall means that the clock runs, and not that a command ended it.
    private var mayResume = false

    init(startedAt: MonotonicInstant) { self.startedAt = startedAt }

    /// Whether the clock runs.
    var isRunning: Bool { runningSince != nil }

    mutating func take(_ event: EngineEvent, now: MonotonicInstant) {
        switch event {
        case .firstFrame: noteStart(now)
        case .playing:
            noteStart(now)
            endStall(now)
            mayResume = true
            run(now)
        case .stallBegan:
            stop(now)
            stalledSince = now
            report.isStalled = true
            report.stalls += 1
        case .stallEnded:
            endStall(now)
            if mayResume { run(now) }
        case .ended, .failed:
            halt(now)
            endStall(now)
        case .ready, .seekCompleted, .seekCancelled: break
        }
    }

    /// The clock stopped because of a command: a pause, or a seek.
    mutating func halt(_ now: MonotonicInstant) {
        mayResume = false
        stop(now)
    }

    private mutating func stop(_ now: MonotonicInstant) {
        if let runningSince { report.played += runningSince.duration(to: now) }
        runningSince = nil
        report.isPlaying = false
    }

    /// The report at `now`.
    func report(position: MediaTime, now: MonotonicInstant) -> PlaybackReport {
        var report = report
        report.position = position.duration
        if let runningSince { report.played += runningSince.duration(to: now) }
        if let stalledSince { report.stallTime += stalledSince.duration(to: now) }
        return report
    }

    private mutating func noteStart(_ now: MonotonicInstant) {
        if report.startup == nil { report.startup = startedAt.duration(to: now) }
    }

    private mutating func run(_ now: MonotonicInstant) {
        if runningSince == nil { runningSince = now }
        report.isPlaying = true
    }

    private mutating func endStall(_ now: MonotonicInstant) {
        if let stalledSince { report.stallTime += stalledSince.duration(to: now) }
        stalledSince = nil
        report.isStalled = false
    }
}
