import CoreModel
import Delivery
import EventLoop
import MediaEngine
import Scheduling
import Synchronization

/// Plays a presentation: a viewer's session on a loop of its own brings the media, an engine decodes it.
///
/// The loop's thread owns the session. Seeks reach session and engine together on the loop, so that no media of the old
/// place follows the new one into the engine.
final class PresentationCore: PlaybackCore {
    /// How long nothing may come, before playback is ready, until the source counts as unreachable.
    static let readyTimeout: Duration = .seconds(27)

    /// The name of seeks that nobody asked for; the player's own are counted from 1.
    private static let ownSeek = UInt64.max

    private enum Readiness {
        case waiting(duration: MediaTime?, isPrepared: Bool, isDecoded: Bool)
        case told
    }

    private struct State {
        var loop: EventLoop?
        var figures: PlaybackFigures
        var readiness = Readiness.waiting(duration: nil, isPrepared: false, isDecoded: false)
        /// Commands that wait for the loop: a seek, and what came behind it.
        var queuedCommands = 0
        /// Where the picture is shown, in pixels.
        var viewport: PixelSize?
        var isShutDown = false
    }

    /// What lives on the loop.
    ///
    /// `@unchecked Sendable`: made and touched in the loop's calls only.
    private final class Seat: @unchecked Sendable {
        var session: ViewerSession?
        var timer: LoopTimer?
    }

    private let configuration: SessionConfiguration
    private let readyTimeout: Duration
    private let log: SessionLog
    private let handler: @Sendable (PlaybackEvent) -> Void
    private let state: Mutex<State>
    private let engine: MediaEngine
    private let link: Link
    private let seat = Seat()

    /// Leads the engine's events to the core, which doesn't exist yet when the engine is made.
    private final class Link: Sendable {
        private let target = Mutex<Weak?>(nil)

        struct Weak { weak var core: PresentationCore? }

        var core: PresentationCore? { target.withLock { $0?.core } }

        func set(_ core: PresentationCore) { target.withLock { $0 = Weak(core: core) } }
    }

    init(
        configuration: SessionConfiguration, log: SessionLog, sink: FrameSink, observer: (any FrameObserver)? = nil,
        readyTimeout: Duration = PresentationCore.readyTimeout, handler: @escaping @Sendable (PlaybackEvent) -> Void
    ) {
        self.configuration = configuration
        self.readyTimeout = readyTimeout
        self.log = log
        self.handler = handler
        state = Mutex(State(figures: PlaybackFigures(startedAt: EventLoop.now)))
        let link = Link()
        self.link = link
        engine = MediaEngine(sink: sink, observer: observer) { event in link.core?.take(event) }
        link.set(self)
    }

    func start() {
        let loop: EventLoop
        do {
            loop = try EventLoop.startThread(named: "vbplayer")
        } catch {
            let fault = PlayerError(.internalFault, "The system has no thread or descriptor left.", underlying: error)
            return tell(.failed(fault))
        }
        let isShutDown = state.withLock { state in
            state.loop = loop
            return state.isShutDown
        }
        guard !isShutDown else { return loop.stop() }
        loop.execute {
            // A shutdown that overtook this call has put away what there was.
            guard !self.state.withLock({ $0.isShutDown }) else { return }
            var configuration = self.configuration
            configuration.viewport = self.state.withLock { $0.viewport }
            let session = ViewerSession(configuration: configuration, loop: loop, sink: self)
            session.onLog = self.log.handler
            self.seat.session = session
            self.seat.timer = LoopTimer(loop: loop) { [weak self] in self?.giveUp() }
            self.seat.timer?.arm(after: self.readyTimeout)
            session.start()
        }
    }

    func play() {
        log.note(.debug, .player, "play")
        command { $0.engine.play() }
    }

    func pause() {
        log.note(.debug, .player, "pause")
        command { core in
            core.state.withLock { $0.figures.halt(EventLoop.now) }
            core.engine.pause()
        }
        tellSession()
    }

    func seek(id: UInt64, to time: MediaTime, tolerance: MediaTime?) {
        log.note(.debug, .player, "seek to \(time.seconds) s")
        queue { core in
            // Outside the window of a live presentation a seek does nothing.
            if core.seat.session?.canSeek(to: time) == false { return core.tell(.seekEnded(id: id)) }
            core.state.withLock { $0.figures.halt(EventLoop.now) }
            core.engine.seek(id: id, to: time, tolerance: tolerance)
            core.seat.session?.seek(to: time.duration)
        }
    }

    func setQuality(_ id: String?) {
        log.note(.debug, .player, id.map { "quality \"\($0)\"" } ?? "quality chosen automatically")
        onLoop { $0.seat.session?.setRendition(id) }
    }

    func setViewport(_ size: PixelSize?) {
        guard configuration.isLimitedToDisplay else { return }
        let isNew = state.withLock { state in
            defer { state.viewport = size }
            return state.viewport != size
        }
        guard isNew else { return }
        onLoop { core in core.seat.session?.setViewport(core.state.withLock { $0.viewport }) }
    }

    var position: MediaTime { engine.position }

    func readFigures(_ answer: OneAnswer<ViewerFigures?>) {
        // When the loop has stopped the answer goes with the call that is dropped.
        onLoop { core in
            guard var figures = core.seat.session?.figures else { return }
            let decoded = core.engine.statistics
            figures.framesDecoded = decoded.framesDecoded
            figures.framesDropped = decoded.framesDropped
            figures.audioSamplesDecoded = decoded.audioSamplesDecoded
            answer.give(figures)
        }
    }

    func shutdown() {
        let loop = state.withLock { state in
            state.isShutDown = true
            defer { state.loop = nil }
            return state.loop
        }
        engine.shutdown()
        guard let loop else { return }
        let seat = seat
        loop.execute {
            seat.session?.stop()
            seat.session = nil
            seat.timer = nil
        }
        loop.stop()
    }

    /// Takes an event of the engine, on one of its threads.
    private func take(_ event: EngineEvent) {
        let ready = state.withLock { state -> PlaybackEvent? in
            state.figures.take(event, now: EventLoop.now)
            guard case .waiting(let duration, let isPrepared, false) = state.readiness else { return nil }
            switch event {
            case .firstFrame, .ended:
                state.readiness = .waiting(duration: duration, isPrepared: isPrepared, isDecoded: true)
            default: return nil
            }
            return Self.becomeReady(&state)
        }
        log.note(event)
        if let ready { tell(ready) }
        if let event = PlaybackEvent(event) { tell(event) }
        tellSession()
    }

    private static func becomeReady(_ state: inout State) -> PlaybackEvent? {
        guard case .waiting(let duration, true, true) = state.readiness else { return nil }
        state.readiness = .told
        return .ready(duration: duration)
    }

    /// Carries a command out: at once, or behind a seek that waits for the loop, so that the engine hears of both in the
    /// order of the calls.
    private func command(_ work: @escaping @Sendable (PresentationCore) -> Void) {
        if state.withLock({ $0.queuedCommands == 0 }) { work(self) } else { queue(work) }
    }

    private func queue(_ work: @escaping @Sendable (PresentationCore) -> Void) {
        state.withLock { $0.queuedCommands += 1 }
        onLoop { core in
            work(core)
            core.state.withLock { $0.queuedCommands -= 1 }
        }
    }

    private func tellSession() { onLoop { $0.seat.session?.playbackDidChange() } }

    private func onLoop(_ work: @escaping @Sendable (PresentationCore) -> Void) {
        let loop = state.withLock { $0.loop }
        loop?.execute { [weak self] in
            if let self { work(self) }
        }
    }

    /// On the loop: nothing has come for too long.
    private func giveUp() {
        guard case .waiting = state.withLock({ $0.readiness }) else { return }
        tell(.failed(PlayerError(.timedOut, "Nothing that can be played came within \(readyTimeout).")))
    }

    private func tell(_ event: PlaybackEvent) {
        log.note(event)
        handler(event)
    }
}

extension PresentationCore: SessionSink {
    func session(_ session: ViewerSession, did event: SessionEvent) {
        seat.timer?.arm(after: readyTimeout)
        engine.take(event)
        switch event {
        case .prepared(let information):
            let qualities = information.qualities.map(VBQuality.init)
            tell(.qualities(qualities, isAutomatic: configuration.renditionID == nil))
            if information.start > .zero { engine.seek(id: Self.ownSeek, to: information.start, tolerance: .zero) }
            let duration = information.isLive ? nil : information.duration
            let ready = state.withLock { state -> PlaybackEvent? in
                if case .waiting(_, _, let isDecoded) = state.readiness {
                    state.readiness = .waiting(duration: duration, isPrepared: true, isDecoded: isDecoded)
                }
                return Self.becomeReady(&state)
            }
            if let ready { tell(ready) }
        case .failed(let error): tell(.failed(PlayerError(error)))
        case .segmentBegan(let track, let timing):
            log.note(.trace, .engine, "track \(track): the segment at \(timing.start.seconds) s")
        case .renditionShown(_, let id): tell(.quality(id))
        case .initialization, .bytes, .segmentEnded, .trackEnded: break
        }
    }

    func session(_ session: ViewerSession, wantsSpeed speed: Double) { engine.setSpeed(speed) }

    func session(_ session: ViewerSession, wantsSeekTo time: MediaTime) {
        engine.seek(id: Self.ownSeek, to: time, tolerance: .zero)
        session.seek(to: time.duration)
    }

    func playback(at now: MonotonicInstant) -> PlaybackReport {
        let position = engine.position
        return state.withLock { $0.figures.report(position: position, now: now) }
    }
}

extension VBQuality {
    fileprivate init(_ quality: SessionInformation.Quality) {
        self.init(
            id: quality.rendition, bandwidth: Int(clamping: quality.bitsPerSecond), width: quality.width ?? 0,
            height: quality.height ?? 0)
    }
}
