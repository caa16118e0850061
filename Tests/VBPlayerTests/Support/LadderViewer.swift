import CoreModel
import Delivery
import EventLoop
import MediaEngine
import Testing
@testable import VBPlayer

/// A viewer that decodes, and what he came to.
final class LadderViewer: SessionSink, @unchecked Sendable {  // Confined to its loop.
    /// What was played.
    struct Outcome: Sendable {
        var figures: ViewerFigures
        /// The rung of each segment of the first track that was handed over, in the order of play.
        var rungs: [Int]
        var frames: [String]
        var decisions: [String]
        /// The renditions that were told to be on screen.
        var shown: [String]
        var qualities: [SessionInformation.Quality]
        /// How often playback stopped with nothing in the decoder's hands that goes on: what a busy machine holds up is not
        /// counted.
        var starvations: Int
        var failure: String?
    }

    private var player: EnginePlayer?
    private var session: ViewerSession?
    private let record = FrameRecord()
    private var rungs: [Int] = []
    private var shown: [String] = []
    private var qualities: [SessionInformation.Quality] = []
    /// By track, where the segment ends that was handed over last, and whether there is another.
    private var reached: [Int: MediaTime] = [:]
    private var timings: [Int: SegmentTiming] = [:]
    private var starvations = 0
    private let onSegment: (ViewerSession, Int) -> Void

    private init(onSegment: @escaping (ViewerSession, Int) -> Void) { self.onSegment = onSegment }

    /// Plays a stream to its end.
    ///
    /// - Parameter limit: How much of it is played.
    /// - Parameter onSegment: Called with the session and the number of each segment that the first track begins.
    static func play(
        _ url: String, limit: Duration? = nil, _ change: @Sendable (inout SessionConfiguration) -> Void = { _ in },
        onSegment: @escaping @Sendable (ViewerSession, Int) -> Void = { _, _ in }
    ) async throws -> Outcome {
        var configuration = SessionConfiguration(url: url)
        configuration.keepsDecisions = true
        change(&configuration)
        let loop = try EventLoop.startThread(named: "ladder")
        defer { loop.stop() }
        return await withCheckedContinuation { [configuration] continuation in
            loop.execute {
                LadderViewer(onSegment: onSegment).start(configuration, limit: limit, on: loop) {
                    continuation.resume(returning: $0)
                }
            }
        }
    }

    /// Begins; the viewer keeps itself until the end.
    private func start(
        _ configuration: SessionConfiguration, limit: Duration?, on loop: EventLoop,
        onEnd: @escaping @Sendable (Outcome) -> Void
    ) {
        player = EnginePlayer(
            loop: loop, observer: record, limit: limit,
            onEvent: { [unowned self] event in
                guard case .stallBegan(let position) = event, let end = reached.values.min() else { return }
                if end < position + MediaTime(ticks: 1, timescale: 2) { starvations += 1 }
            }
        ) { failure in
            // Not from inside the session's own call.
            loop.execute { onEnd(self.end(failure)) }
        }
        let session = ViewerSession(configuration: configuration, loop: loop, sink: self)
        self.session = session
        session.start()
    }

    private func end(_ failure: String?) -> Outcome {
        session?.stop()
        player?.stop()
        let outcome = Outcome(
            figures: session?.figures ?? ViewerFigures(), rungs: rungs, frames: record.frames,
            decisions: session?.decisions ?? [], shown: shown, qualities: qualities, starvations: starvations,
            failure: failure)
        session = nil
        player = nil
        return outcome
    }

    func session(_ session: ViewerSession, did event: SessionEvent) {
        switch event {
        case .prepared(let information): qualities = information.qualities
        case .segmentBegan(let track, let timing):
            timings[track] = timing
            guard track == 0 else { break }
            rungs.append(timing.quality)
            onSegment(session, rungs.count - 1)
        case .segmentEnded(let track): reached[track] = timings[track].map { $0.start + $0.duration }
        case .renditionShown(_, let id): shown.append(id)
        default: break
        }
        player?.session(session, did: event)
    }

    func playback(at now: MonotonicInstant) -> PlaybackReport {
        player?.playback(at: now) ?? PlaybackReport()
    }
}
