import CoreModel
import Delivery
import Dispatch
import Foundation
import MediaEngine
import Synchronization

#if canImport(CoreMedia)
    import CoreMedia
#endif

/// Stands between a player and its core: runs the ``PlayerMachine`` under a lock and carries its actions out in order.
///
/// The core and the main queue hold it; it holds the player weakly, so that releasing the player ends everything.
final class PlayerController: Sendable {
    private struct State {
        var machine: PlayerMachine
        var core: (any PlaybackCore)?
        var completions: [UInt64: SeekCompletion] = [:]
        var observers: [WeakObserver] = []
        var streams: [Int: AsyncStream<VBPlayerStatus>.Continuation] = [:]
        var nextStream = 0
        /// What waits for the core and for time observers; whoever finds none in work carries it out, so that all hear
        /// in the same order.
        var commands: [Command] = []
        var isCommanding = false
        /// The error of a failure, until it is published.
        var error: NSError?
        /// The last position of a core that was shut down.
        var lastPosition = MediaTime.zero

        /// Forgets the observers that are gone and those that `isKept` refuses.
        ///
        /// - Returns: The observers there were. The caller keeps them beyond the lock: the last reference to one may let
        ///   go of what its block holds, the player too.
        mutating func keepObservers(where isKept: (PeriodicObserver) -> Bool) -> [PeriodicObserver] {
            let present = observers.compactMap(\.observer)
            observers = present.filter(isKept).map(WeakObserver.init)
            return present
        }
    }

    private enum Command {
        case core(PlayerMachine.Action)
        case clock(isRunning: Bool, [PeriodicObserver])
    }

    private struct WeakObserver { weak var observer: PeriodicObserver? }

    private struct WeakReferences {
        weak var player: VBPlayer?
        weak var delegate: (any VBPlayerDelegate)?
    }

    let observed = ObservedState(PlayerSnapshot())
    private let state: Mutex<State>
    private let references = Mutex(UncheckedBox(WeakReferences()))
    private let layer = Mutex<VBDisplayLayer?>(nil)
    /// Keeps the newest picture for layers that come later.
    private let newestFrame = FrameSink()

    /// - Parameter takesEarlySeeks: See ``PlayerMachine/takesEarlySeeks``.
    init(takesEarlySeeks: Bool) { state = Mutex(State(machine: PlayerMachine(takesEarlySeeks: takesEarlySeeks))) }

    /// The player; the events of a core may come before it is set.
    func setPlayer(_ player: VBPlayer) {
        references.withLock { $0 = UncheckedBox(WeakReferences(player: player, delegate: $0.value.delegate)) }
    }

    var delegate: (any VBPlayerDelegate)? {
        get { references.withLock { UncheckedBox($0.value.delegate) }.value }
        set {
            let box = UncheckedBox(newValue)
            references.withLock { $0 = UncheckedBox(WeakReferences(player: $0.value.player, delegate: box.value)) }
        }
    }

    /// Gives the controller its core and begins.
    func start(_ core: any PlaybackCore) {
        state.withLock { $0.core = core }
        core.setViewport(layer.withLock { $0 }?.viewport)
        core.start()
    }

    /// Fails without a core, once the caller had a chance to register observers.
    func failSoon(_ error: PlayerError) {
        DispatchQueue.main.async { self.take(.failed(error)) }
        // A process whose main queue doesn't run sees it all the same.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { [weak self] in self?.take(.failed(error)) }
    }

    // MARK: - Commands

    func play() { change { $0.machine.play() } }

    func pause() { change { $0.machine.pause() } }

    func seek(to time: MediaTime, tolerance: MediaTime?, completion: (() -> Void)?) {
        let completion = completion.map(SeekCompletion.init)
        change { state in
            let (id, actions) = state.machine.seek(to: time, tolerance: tolerance)
            if let completion { state.completions[id] = completion }
            return actions
        }
    }

    var position: MediaTime {
        let (core, last) = state.withLock { ($0.core, $0.lastPosition) }
        guard let core else { return last }
        return core.position
    }

    // MARK: - Quality

    func setQuality(_ quality: VBQuality?) {
        guard let quality else { return setQualityAutomatic(true) }
        let qualities = observed.newest.qualities
        guard qualities.contains(quality) else {
            return refuse(PlayerError(.wrongMoment, "The quality \"\(quality.id)\" is not among those of the stream."))
        }
        guard qualities.count > 1 else { return }
        observed.update { $0.isQualityAutomatic = false }
        state.withLock { $0.core }?.setQuality(quality.id)
    }

    func setQualityAutomatic(_ isAutomatic: Bool) {
        let snapshot = observed.newest
        guard snapshot.isQualityAutomatic != isAutomatic else { return }
        guard isAutomatic else {
            guard let quality = snapshot.quality ?? snapshot.qualities.first else {
                return refuse(PlayerError(.wrongMoment, "No quality is known yet to stay with."))
            }
            return setQuality(quality)
        }
        guard snapshot.qualities.count > 1 else {
            return refuse(PlayerError(.wrongMoment, "There is no other quality to change to."))
        }
        observed.update { $0.isQualityAutomatic = true }
        state.withLock { $0.core }?.setQuality(nil)
    }

    /// See ``PlaybackCore/readFigures(_:)``.
    func readFigures(_ answer: OneAnswer<ViewerFigures?>) { state.withLock { $0.core }?.readFigures(answer) }

    /// Takes an event of the core.
    func take(_ event: PlaybackEvent) {
        switch event {
        case .qualities(let qualities, let isAutomatic):
            observed.update { snapshot in
                snapshot.qualities = qualities
                snapshot.isQualityAutomatic = isAutomatic
            }
        case .quality(let id):
            observed.update { snapshot in snapshot.quality = snapshot.qualities.first { $0.id == id } }
        case .ready, .playing, .stallBegan, .stallEnded, .seekEnded, .ended, .failed: break
        }
        change { state in
            if case .failed(let error) = event, state.error == nil { state.error = error.nsError }
            return state.machine.take(event)
        }
    }

    /// The player was released.
    func close() {
        change { $0.machine.close() }
        let (streams, observers, completions) = state.withLock { state in
            defer {
                state.streams = [:]
                state.observers = []
                state.completions = [:]
            }
            return (state.streams, state.observers, state.completions)
        }
        for stream in streams.values { stream.finish() }
        for observer in observers { observer.observer?.remove() }
        for completion in completions.values { completion.complete() }
        observed.removeAllObservers()
        setLayer(nil)
    }

    // MARK: - Observers

    func add(_ observer: PeriodicObserver) {
        let others = state.withLock { state in
            let others = state.keepObservers { _ in true }
            state.observers.append(WeakObserver(observer: observer))
            if state.machine.isRunning { state.commands.append(.clock(isRunning: true, [observer])) }
            return others
        }
        withExtendedLifetime(others) {}
        command()
    }

    func remove(_ observer: PeriodicObserver) {
        observer.remove()
        let others = state.withLock { state in state.keepObservers { $0 !== observer } }
        withExtendedLifetime(others) {}
    }

    func statusUpdates() -> AsyncStream<VBPlayerStatus> {
        // Three values exist, so nothing is ever dropped.
        let (stream, continuation) = AsyncStream.makeStream(
            of: VBPlayerStatus.self, bufferingPolicy: .bufferingNewest(3))
        let id = state.withLock { state in
            state.nextStream += 1
            state.streams[state.nextStream] = continuation
            continuation.yield(observed.visible.status)
            return state.nextStream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
        }
        return stream
    }

    // MARK: - Pictures

    func setLayer(_ newLayer: VBDisplayLayer?) {
        let id = ObjectIdentifier(self)
        let old = layer.withLock { layer in
            defer { layer = newLayer }
            return layer
        }
        if let old, old !== newLayer { old.detach(from: id) }
        state.withLock { $0.core }?.setViewport(newLayer?.viewport)
        guard let newLayer else { return }
        var shown = newestFrame.frame
        newLayer.attach(to: id, showing: shown) { [weak self] size in
            self?.state.withLock { $0.core }?.setViewport(size)
        }
        // A picture that came between the two steps above was covered by the one before it.
        while let newest = newestFrame.frame, newest !== shown {
            newLayer.present(newest, from: id)
            shown = newest
        }
    }

    /// Shows a picture, on a thread of the core.
    func present(_ frame: VideoFrame) {
        newestFrame.present(frame)
        layer.withLock { $0 }?.present(frame, from: ObjectIdentifier(self))
    }

    // MARK: - Actions

    /// Lets the machine move, publishes under the lock, so that everybody hears in the same order, and commands the core.
    private func change(_ move: (inout State) -> [PlayerMachine.Action]) {
        let due = state.withLock { state in
            var due = Due()
            for action in move(&state) { carryOut(action, &state, &due) }
            return due
        }
        for completion in due.completions { completion.complete() }
        if let seek = due.seek { due.core?.seek(id: seek.id, to: seek.time, tolerance: seek.tolerance) }
        command()
    }

    /// What is done outside of the lock.
    private struct Due {
        var completions: [SeekCompletion] = []
        var seek: PlayerMachine.Seek?
        var core: (any PlaybackCore)?
    }

    private func carryOut(_ action: PlayerMachine.Action, _ state: inout State, _ due: inout Due) {
        switch action {
        case .seek(let seek) where state.machine.takesEarlySeeks:
            // Done before the caller's next append, whoever else commands the core at the moment.
            due.seek = seek
            due.core = state.core
        case .play, .pause, .seek, .shutdown: state.commands.append(.core(action))
        case .complete(let id):
            if let completion = state.completions.removeValue(forKey: id) { due.completions.append(completion) }
        case .clock(let isRunning):
            state.commands.append(.clock(isRunning: isRunning, state.observers.compactMap(\.observer)))
        case .publish(let change): publish(change, &state)
        case .tell(let occasion): tell(occasion)
        }
    }

    private func publish(_ change: PlayerMachine.Change, _ state: inout State) {
        switch change {
        case .rate(let rate): observed.update { $0.rate = rate }
        case .ready(let duration):
            observed.update { snapshot in
                snapshot.duration = duration.map { CMTime($0) } ?? .indefinite
                snapshot.status = .readyToPlay
            }
            for stream in state.streams.values { stream.yield(.readyToPlay) }
        case .failed:
            let error = state.error
            observed.update { $0.error = error }
            observed.update { $0.status = .failed }
            for stream in state.streams.values { stream.yield(.failed) }
        }
    }

    /// Carries waiting commands out, unless another call is at it: a core may answer a command from within.
    private func command() {
        let isFirst = state.withLock { state in
            defer { state.isCommanding = true }
            return !state.isCommanding
        }
        guard isFirst else { return }
        while let (command, core) = nextCommand() {
            switch command {
            case .core(.play): core?.play()
            case .core(.pause): core?.pause()
            case .core(.seek(let seek)): core?.seek(id: seek.id, to: seek.time, tolerance: seek.tolerance)
            case .core(.shutdown): shutDown(core)
            case .core(.complete), .core(.publish), .core(.tell), .core(.clock): break
            case .clock(let isRunning, let observers):
                for observer in observers { observer.clockChanged(isRunning: isRunning) }
            }
        }
    }

    private func nextCommand() -> (Command, (any PlaybackCore)?)? {
        state.withLock { state in
            guard !state.commands.isEmpty else {
                state.isCommanding = false
                return nil
            }
            return (state.commands.removeFirst(), state.core)
        }
    }

    private func shutDown(_ core: (any PlaybackCore)?) {
        guard let core else { return }
        let position = core.position
        core.shutdown()
        state.withLock { state in
            state.lastPosition = position
            state.core = nil
        }
    }

    private func tell(_ occasion: PlayerMachine.Occasion) {
        DispatchQueue.main.async { [weak self] in
            MainActor.assumeIsolated { self?.tellOnMain(occasion) }
        }
    }

    @MainActor private func tellOnMain(_ occasion: PlayerMachine.Occasion) {
        let (player, delegate) = references.withLock { UncheckedBox(($0.value.player, $0.value.delegate)) }.value
        guard let player else { return }
        switch occasion {
        case .enteredStall:
            delegate?.playerDidEnterStall(player)
            Self.post(.VBPlayerDidEnterStall, player)
        case .exitedStall:
            delegate?.playerDidExitStall(player)
            Self.post(.VBPlayerDidExitStall, player)
        case .finished:
            delegate?.playerDidFinishPlaying(player)
            Self.post(.VBPlayerDidFinishPlaying, player)
        }
    }

    /// Tells of a command that was refused.
    func refuse(_ error: PlayerError) {
        DispatchQueue.main.async { [weak self] in
            guard let self, let player = references.withLock({ UncheckedBox($0.value.player) }).value else { return }
            Self.post(.VBPlayerDidRefuseCommand, player, [VBPlayerErrorKey: error.nsError])
        }
    }

    /// Posts a notification on the main queue, in an operation: to observers that ask for `OperationQueue.main` Foundation
    /// hands it over and waits, for ever where it doesn't know that it is on that queue, which is so on every thread but the
    /// main one, and that one is gone in a program that has called `dispatchMain()` or has an asynchronous `main`.
    private static func post(_ name: Notification.Name, _ player: VBPlayer, _ userInfo: [String: any Error] = [:]) {
        let player = UncheckedBox(player)
        OperationQueue.main.addOperation {
            NotificationCenter.default.post(name: name, object: player.value, userInfo: userInfo)
        }
    }
}
