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
        /// The rung of each segment of the first track, in the order of play.
        var rungs: [Int]
        var frames: [String]
        var decisions: [String]
        /// The renditions that were told to be on screen.
        var shown: [String]
        var qualities: [SessionInformation.Quality]
        var failure: String?
    }

    private var player: EnginePlayer?
    private var session: ViewerSession?
    private let record = FrameRecord()
    private var rungs: [Int] = []
    private var shown: [String] = []
    private var qualities: [SessionInformation.Quality] = []
    private let onSegment: (ViewerSession, Int) -> Void

    private init(onSegment: @escaping (ViewerSession, Int) -> Void) { self.onSegment = onSegment }

    /// Plays a stream to its end.
    ///
    /// - Parameter onSegment: Called with the session and the number of each segment that the first track begins.
    static func play(
        _ url: String, _ change: @Sendable (inout SessionConfiguration) -> Void = { _ in },
        onSegment: @escaping @Sendable (ViewerSession, Int) -> Void = { _, _ in }
    ) async throws -> Outcome {
        var configuration = SessionConfiguration(url: url)
        configuration.keepsDecisions = true
        change(&configuration)
        let loop = try EventLoop.startThread(named: "ladder")
        defer { loop.stop() }
        return await withCheckedContinuation { [configuration] continuation in
            loop.execute {
                LadderViewer(onSegment: onSegment).start(configuration, on: loop) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Begins; the viewer keeps itself until the end.
    private func start(
        _ configuration: SessionConfiguration, on loop: EventLoop, onEnd: @escaping @Sendable (Outcome) -> Void
    ) {
        player = EnginePlayer(loop: loop, observer: record) { failure in
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
            decisions: session?.decisions ?? [], shown: shown, qualities: qualities, failure: failure)
        session = nil
        player = nil
        return outcome
    }

    func session(_ session: ViewerSession, did event: SessionEvent) {
        switch event {
        case .prepared(let information): qualities = information.qualities
        case .segmentBegan(0, let timing):
            rungs.append(timing.quality)
            onSegment(session, rungs.count - 1)
        case .renditionShown(_, let id): shown.append(id)
        default: break
        }
        player?.session(session, did: event)
    }

    func playback(at now: MonotonicInstant) -> PlaybackReport {
        player?.playback(at: now) ?? PlaybackReport()
    }
}
