package import CoreModel
package import Delivery
package import EventLoop
package import MediaEngine

/// Plays a session's media with the media engine. Confined to the session's loop; the engine has its own threads.
package final class EnginePlayer: SessionSink {
    /// The engine.
    package let engine: MediaEngine

    private let loop: EventLoop
    private let startedAt: MonotonicInstant
    private var start: Duration
    private let limit: Duration?
    private var end: Duration?
    private let onEvent: (EngineEvent) -> Void
    private let onFinish: (String?) -> Void
    private var report = PlaybackReport()
    private var stalledAt: MonotonicInstant?
    private var hasTracks = false
    private var isOver = false
    private weak var session: ViewerSession?

    /// Carries the player into the engine's callback, which comes from other threads and only hops to the loop.
    private final class Link: @unchecked Sendable {  // `player` is touched on the loop only.
        weak var player: EnginePlayer?
    }

    /// Makes a player that begins by itself once there is media.
    ///
    /// - Parameters:
    ///   - start: Where playback starts: at the frame that holds this time.
    ///   - limit: How much is played at most.
    ///   - onEvent: Told of the engine's events, on the loop.
    ///   - onFinish: Called once, on the loop, at the end, or with what went wrong.
    package init(
        loop: EventLoop, configuration: EngineConfiguration = EngineConfiguration(), sink: FrameSink? = nil,
        observer: (any FrameObserver)? = nil, start: Duration = .zero, limit: Duration? = nil,
        onEvent: @escaping (EngineEvent) -> Void = { _ in }, onFinish: @escaping (String?) -> Void
    ) {
        self.loop = loop
        self.start = start
        self.onEvent = onEvent
        self.onFinish = onFinish
        startedAt = loop.now
        self.limit = limit
        report.position = start
        let link = Link()
        engine = MediaEngine(configuration: configuration, sink: sink, observer: observer) { event in
            loop.execute { link.player?.take(event) }
        }
        link.player = self
    }

    /// Ends the engine's threads.
    package func stop() {
        isOver = true
        engine.shutdown()
    }

    package func session(_ session: ViewerSession, did event: SessionEvent) {
        self.session = session
        engine.take(event)
        switch event {
        case .prepared(let information):
            hasTracks = true
            start = information.start.duration
            end = limit.map { start + $0 }
            report.position = start
            if start > .zero { engine.seek(id: 0, to: information.start, tolerance: .zero) }
            engine.play()
        case .initialization, .segmentBegan, .bytes, .segmentEnded, .trackEnded, .renditionShown: break
        case .failed(let error): finish("\(error)")
        }
    }

    package func session(_ session: ViewerSession, wantsSpeed speed: Double) { engine.setSpeed(speed) }

    package func session(_ session: ViewerSession, wantsSeekTo time: MediaTime) {
        report.isPlaying = false
        engine.seek(id: 0, to: time, tolerance: .zero)
        session.seek(to: time.duration)
    }

    package func playback(at now: MonotonicInstant) -> PlaybackReport {
        guard hasTracks, report.startup != nil else { return report }
        let position = engine.position.duration
        report.played = max(report.played, position - start)
        report.position = position
        if let stalledAt {
            var report = report
            report.stallTime += stalledAt.duration(to: now)
            return report
        }
        if let end, position >= end { finish(nil) }
        return report
    }

    private func take(_ event: EngineEvent) {
        guard !isOver else { return }
        switch event {
        case .firstFrame:
            if report.startup == nil { report.startup = startedAt.duration(to: loop.now) }
            // Unpaced, no clock will ever start.
            session?.playbackDidChange()
        case .playing:
            if report.startup == nil { report.startup = startedAt.duration(to: loop.now) }
            report.isPlaying = true
            session?.playbackDidChange()
        case .stallBegan:
            report.isPlaying = false
            report.isStalled = true
            report.stalls += 1
            stalledAt = loop.now
            session?.playbackDidChange()
        case .stallEnded:
            if let stalledAt { report.stallTime += stalledAt.duration(to: loop.now) }
            stalledAt = nil
            report.isStalled = false
            report.isPlaying = true
            session?.playbackDidChange()
        case .ended:
            report.position = max(report.position, engine.position.duration)
            report.played = max(report.played, report.position - start)
            report.isPlaying = false
            finish(nil)
        case .failed(let error): finish("\(error)")
        case .ready, .seekCompleted, .seekCancelled: break
        }
        onEvent(event)
    }

    private func finish(_ failure: String?) {
        guard !isOver else { return }
        isOver = true
        report.isPlaying = false
        onFinish(failure)
    }
}
