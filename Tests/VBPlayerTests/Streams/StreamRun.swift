import CoreModel
import Delivery
import EventLoop
import Foundation
import MediaEngine
import Synchronization

@testable import VBPlayer

/// A stream played from its beginning to its end as fast as it comes, with all that a viewer of it sees.
struct StreamRun: Sendable {
    /// The MD5 of each picture, in the order of presentation.
    var pictures: [String]
    /// Their times in ticks of 90 kHz.
    var times: [Int64]
    /// Samples of sound, a channel.
    var sampleCount: Int
    /// Why it ended before the end.
    var failure: String?
    /// Lines of the session's log, and of its decisions.
    var log: [String]
    var figures: ViewerFigures

    private final class Record: FrameObserver {
        let pictures = Mutex<[(time: Int64, hash: String)]>([])

        func videoFrameDecoded(_ frame: VideoFrame) {
            let hash = FrameHasher()?.digest(of: frame) ?? ""
            pictures.withLock { $0.append((frame.time.ticks(at: FrameHasher.timescale), hash)) }
        }
    }

    /// What lives on the loop.
    private final class Seat: @unchecked Sendable {  // Touched on the loop only.
        var session: ViewerSession?
        var player: EnginePlayer?
        var log: [String] = []
        var timer: LoopTimer?
    }

    /// Plays what `settings` say of the address.
    ///
    /// - Parameter patience: After so long it is ended, as a failure.
    static func play(
        _ url: String, settings: PlayerSettings = PlayerSettings(), patience: Duration = .seconds(90)
    ) async throws -> StreamRun {
        let loop = try EventLoop.startThread(named: "stream run")
        let record = Record()
        let run: StreamRun = await withCheckedContinuation { continuation in
            let seat = Seat()
            loop.execute {
                var configuration = settings.sessionConfiguration(url: url)
                configuration.keepsDecisions = true
                let finish = { (failure: String?) in
                    // Not from inside a call of the player.
                    seat.timer = LoopTimer(loop: loop) {
                        guard let session = seat.session, let engine = seat.player?.engine else { return }
                        session.stop()
                        let pictures = record.pictures.withLock { $0 }
                        let run = StreamRun(
                            pictures: pictures.map(\.hash), times: pictures.map(\.time),
                            sampleCount: engine.statistics.audioSamplesDecoded, failure: failure,
                            log: seat.log + session.decisions, figures: session.figures)
                        seat.player?.stop()
                        seat.session = nil
                        seat.player = nil
                        seat.timer = nil
                        continuation.resume(returning: run)
                    }
                    seat.timer?.arm(after: .zero)
                }
                let player = EnginePlayer(
                    loop: loop, configuration: .unpaced, observer: record, onFinish: { finish($0) })
                seat.player = player
                let session = ViewerSession(configuration: configuration, loop: loop, sink: player)
                session.onLog = { _, domain, sentence in seat.log.append("\(domain): \(sentence)") }
                seat.session = session
                seat.timer = LoopTimer(loop: loop) { finish("nothing for \(patience)") }
                seat.timer?.arm(after: patience)
                session.start()
            }
        }
        await loop.shutDown()
        return run
    }
}
