import CoreModel
import Delivery
import EventLoop
import MediaEngine
import Synchronization

@testable import VBPlayer

/// A viewer that decodes a live stream, with what it said and measured.
final class LiveViewer: Sendable {
    /// Where it stands.
    struct Standing: Sendable {
        var figures: ViewerFigures
        var targetLatency: Double
        var framesDecoded: Int

        /// How far the latency is from where it is to be.
        var error: Double { (figures.liveLatencySeconds ?? .infinity) - targetLatency }
    }

    private struct Record {
        var lines: [String] = []
        var ending: String??
    }

    /// What lives on the loop; made and touched there only.
    private final class Seat: @unchecked Sendable {
        var session: ViewerSession?
        var player: EnginePlayer?
    }

    private let loop: EventLoop
    private let record = Mutex(Record())
    private let seat = Seat()

    init(_ url: String, latency: Duration? = nil) throws {
        loop = try EventLoop.startThread(named: "live viewer")
        loop.execute { [self] in
            let player = EnginePlayer(loop: loop) { failure in self.record.withLock { $0.ending = .some(failure) } }
            var configuration = SessionConfiguration(url: url)
            configuration.liveLatency = latency
            let session = ViewerSession(configuration: configuration, loop: loop, sink: player)
            session.onLog = { _, _, line in self.record.withLock { $0.lines.append(line) } }
            (seat.session, seat.player) = (session, player)
            session.start()
        }
    }

    /// What the session's log says.
    var lines: [String] { record.withLock { $0.lines } }

    /// What went wrong, once playback is over; `nil` inside if nothing did.
    var ending: String?? { record.withLock { $0.ending } }

    func standing() async -> Standing {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                continuation.resume(
                    returning: Standing(
                        figures: seat.session?.figures ?? ViewerFigures(),
                        targetLatency: seat.session?.targetLatency?.inSeconds ?? 0,
                        framesDecoded: seat.player?.engine.statistics.framesDecoded ?? 0))
            }
        }
    }

    func stop() async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                seat.session?.stop()
                seat.player?.stop()
                (seat.session, seat.player) = (nil, nil)
                continuation.resume()
            }
        }
        loop.stop()
    }
}
