import CommandLineSupport
import CoreModel
import Delivery
import EventLoop
import Foundation
import MediaEngine
import VBPlayer

/// Viewers that play on one loop until all are done or a signal comes. Confined to the loop.
final class ViewerRun: @unchecked Sendable {  // Made and used on the loop; what ends it carries values only.
    /// One viewer of the run.
    struct Viewer {
        var configuration: SessionConfiguration
        /// When it joins, after the run's start.
        var joinsAfter: Duration = .zero
        /// Whether its media is decoded.
        var decodes = true
        /// Where a line for each frame goes.
        var frameFile: String?
    }

    /// How a run ended.
    struct Outcome: Sendable {
        var figures: SwarmFigures
        var decisions: [[String]]
        var isInterrupted = false
        /// What failed, in words, by viewer.
        var failures: [Int: String] = [:]
        var errorKind: ErrorKind?
    }

    /// What kind of failure came first.
    enum ErrorKind: Sendable { case unreachable, badInput, other }

    private final class Seat {
        var session: ViewerSession?
        var clock: ClockPlayer?
        var engine: EnginePlayer?
        var frames: FrameFile?
        var figures = ViewerFigures()
        var decisions: [String] = []
        var isDone = false
        var timer: LoopTimer?
    }

    private let loop: EventLoop
    private let viewers: [Viewer]
    private let limit: Duration?
    private let isUnpaced: Bool
    private let log: SessionLog
    private var onEnd: ((Outcome) -> Void)?
    private var seats: [Seat] = []
    private var signals: [SignalWatcher] = []
    private var failures: [Int: String] = [:]
    private var errorKind: ErrorKind?
    private let startedAt: MonotonicInstant

    private init(
        loop: EventLoop, viewers: [Viewer], limit: Duration?, isUnpaced: Bool, log: SessionLog,
        onEnd: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.viewers = viewers
        self.limit = limit
        self.isUnpaced = isUnpaced
        self.log = log
        self.onEnd = onEnd
        startedAt = loop.now
    }

    /// Plays all viewers to their end.
    static func play(
        _ viewers: [Viewer], limit: Duration?, isUnpaced: Bool = false, log: SessionLog
    ) async throws -> Outcome {
        let loop = try EventLoop.startThread(named: "pdn")
        let outcome: Outcome = await withCheckedContinuation { continuation in
            loop.execute {
                let run = ViewerRun(
                    loop: loop, viewers: viewers, limit: limit, isUnpaced: isUnpaced, log: log
                ) { continuation.resume(returning: $0) }
                run.start()
            }
        }
        await loop.shutDown()
        return outcome
    }

    private func start() {
        // The closures keep the run alive until one of them has ended it.
        signals = [SIGINT, SIGTERM].compactMap { signal in
            try? SignalWatcher(loop: loop, signal: signal) { self.end(isInterrupted: true) }
        }
        for (index, viewer) in viewers.enumerated() {
            let seat = Seat()
            seats.append(seat)
            seat.timer = LoopTimer(loop: loop) { self.join(index) }
            seat.timer?.arm(after: viewer.joinsAfter)
        }
    }

    private func join(_ index: Int) {
        let viewer = viewers[index]
        let seat = seats[index]
        seat.timer = nil
        let sink: any SessionSink
        if viewer.decodes {
            do {
                seat.frames = try viewer.frameFile.map(FrameFile.init(path:))
            } catch {
                return finish(index, "\(error)", .other)
            }
            var configuration = EngineConfiguration()
            if isUnpaced { configuration.pacing = .unpaced }
            let player = EnginePlayer(
                loop: loop, configuration: configuration, observer: seat.frames, start: viewer.configuration.start,
                limit: limit, onEvent: { [log] event in log.note(event) }
            ) { [unowned self] failure in finish(index, failure, .other) }
            seat.engine = player
            sink = player
        } else {
            let player = ClockPlayer(loop: loop, start: viewer.configuration.start, limit: limit) {
                [unowned self] error in finish(index, error.map { "\($0)" }, .other)
            }
            seat.clock = player
            sink = player
        }
        let session = ViewerSession(configuration: viewer.configuration, loop: loop, sink: sink)
        let isSwarm = viewers.count > 1
        session.onLog = { [log] level, domain, sentence in
            guard log.includes(level, domain) else { return }
            Terminal.note(isSwarm ? "viewer \(index): \(domain): \(sentence)" : "\(domain): \(sentence)")
        }
        seat.session = session
        session.start()
    }

    /// A viewer is done: its figures are kept; it leaves the swarm.
    private func finish(_ index: Int, _ failure: String?, _ kind: ErrorKind) {
        let seat = seats[index]
        guard !seat.isDone else { return }
        seat.isDone = true
        if let failure {
            failures[index] = failure
            errorKind = errorKind ?? Self.kind(of: seat.session?.failure) ?? kind
        }
        // Not from inside the session's own call.
        seat.timer = LoopTimer(loop: loop) { [self] in
            close(seat, index, failure)
            if seats.allSatisfy({ $0.isDone && $0.session == nil }) { end(isInterrupted: false) }
        }
        seat.timer?.arm(after: .zero)
    }

    private static func kind(of error: SessionError?) -> ErrorKind? {
        switch error {
        case .unreachable, .segmentUnreachable: .unreachable
        case .manifest, .nothingPlayable, .contentKey, .undecryptable, .setting: .badInput
        case nil: nil
        }
    }

    private func close(_ seat: Seat, _ index: Int, _ failure: String?) {
        seat.timer = nil
        // Also of one that never began.
        defer {
            seat.figures.id = "\(index)"
            if let failure { seat.figures.error = failure }
        }
        guard let session = seat.session else { return }
        session.stop()
        seat.figures = session.figures
        seat.decisions = session.decisions
        if let engine = seat.engine {
            let statistics = engine.engine.statistics
            seat.figures.framesDecoded = statistics.framesDecoded
            seat.figures.framesDropped = statistics.framesDropped
            seat.figures.audioSamplesDecoded = statistics.audioSamplesDecoded
            engine.stop()
        }
        do {
            try seat.frames?.close()
        } catch {
            failures[index] = failures[index] ?? "\(error)"
        }
        seat.session = nil
        seat.engine = nil
        seat.clock = nil
    }

    private func end(isInterrupted: Bool) {
        guard let notify = onEnd else { return }
        onEnd = nil
        signals = []
        for (index, seat) in seats.enumerated() {
            seat.isDone = true
            close(seat, index, nil)
        }
        notify(
            Outcome(
                figures: SwarmFigures(
                    viewers: seats.map(\.figures), wallSeconds: startedAt.duration(to: loop.now).inSeconds),
                decisions: seats.map(\.decisions), isInterrupted: isInterrupted, failures: failures,
                errorKind: errorKind))
    }
}
