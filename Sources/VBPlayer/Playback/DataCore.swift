import CoreModel
import Delivery
import MediaEngine
import Scheduling
import Synchronization

/// Plays what its owner appends.
final class DataCore: PlaybackCore {
    private let engine: MediaEngine
    /// Where appended data goes.
    let feed: MediaDataFeed

    init(sink: FrameSink, observer: (any FrameObserver)? = nil, handler: @escaping @Sendable (PlaybackEvent) -> Void) {
        engine = MediaEngine(sink: sink, observer: observer) { event in
            if case .ready = event { handler(.ready(duration: nil)) }
            if let event = PlaybackEvent(event) { handler(event) }
        }
        feed = MediaDataFeed(engine: engine)
    }

    func start() {}

    func play() { engine.play() }

    func pause() { engine.pause() }

    func seek(id: UInt64, to time: MediaTime, tolerance: MediaTime?) {
        feed.seek(id: id, to: time, tolerance: tolerance)
    }

    func setQuality(_ id: String?) {}

    func setViewport(_ size: PixelSize?) {}

    var position: MediaTime { engine.position }

    func readFigures(_ answer: OneAnswer<ViewerFigures?>) { answer.give(nil) }

    func shutdown() { engine.shutdown() }
}
