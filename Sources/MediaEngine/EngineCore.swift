import CoreModel

/// What the engine's threads hold on to; ends with the last of them.
final class EngineCore: Sendable {
    let monitor: Monitor<EngineState>
    let configuration: EngineConfiguration
    let observer: (any FrameObserver)?
    private let presenter: Condition
    private let sink: FrameSink?
    private let onEvent: @Sendable (EngineEvent) -> Void

    init(
        configuration: EngineConfiguration, sink: FrameSink?, observer: (any FrameObserver)?,
        onEvent: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.configuration = configuration
        self.sink = sink
        self.observer = observer
        self.onEvent = onEvent
        let state = EngineState(configuration: configuration)
        presenter = state.presenter
        monitor = Monitor(state)
    }

    /// Tells and shows what the state wants told and shown, in order, with no lock held. When another thread is at it,
    /// that one goes on with what is new.
    func deliver() {
        var isMine = false
        while let effect = nextEffect(&isMine) {
            switch effect {
            case .event(let event): onEvent(event)
            case .present(let frame): sink?.present(frame)
            }
        }
    }

    private func nextEffect(_ isMine: inout Bool) -> EngineState.Effect? {
        monitor.withLock { state in
            guard isMine || !state.isDelivering else { return nil }
            guard let effect = state.outbox.popFirst() else {
                if isMine {
                    state.isDelivering = false
                    if !state.isPaced { for track in state.tracks { track.condition.signal() } }
                }
                isMine = false
                return nil
            }
            isMine = true
            state.isDelivering = true
            return effect
        }
    }

    /// Runs the clock until the engine stops.
    func runPresenter() {
        while true {
            let goesOn = monitor.wait(on: presenter) { state -> Monitor<EngineState>.Step<Bool> in
                if state.isStopping || state.failure != nil { return .done(false) }
                let deadline = state.advance(now: MonotonicClock.now)
                if !state.outbox.isEmpty, !state.isDelivering { return .done(true) }
                return .wait(until: deadline)
            }
            deliver()
            if !goesOn { return }
        }
    }
}
