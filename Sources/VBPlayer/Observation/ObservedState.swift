import Dispatch
import Synchronization

/// A snapshot of an object's observable properties: read from any thread at once, its changes told to observers in order on
/// the main queue.
///
/// Changes are versioned, so that an observer hears exactly those made after it registered. At most ``maximumPending``
/// changes wait for a main queue that does not run; then the oldest two are joined, which loses an intermediate value
/// and never the newest.
final class ObservedState<Snapshot: Sendable>: Sendable {
    /// One change on its way to the observers.
    struct Change: Sendable {
        var old: Snapshot
        var new: Snapshot
        var version: UInt64
    }

    /// Takes a change of the given state, on the main queue.
    typealias Handler = @Sendable (ObservedState, Change) -> Void

    private struct Observer: Sendable {
        var since: UInt64
        var cancellation: Cancellation
        var handler: Handler
    }

    private struct State {
        var snapshot: Snapshot
        var version: UInt64 = 0
        var observers: [Observer] = []
        var pending: [Change] = []
        var isDrainScheduled = false
    }

    /// The bound on waiting changes.
    static var maximumPending: Int { 256 }

    private let state: Mutex<State>

    init(_ snapshot: Snapshot) { state = Mutex(State(snapshot: snapshot)) }

    /// The newest snapshot, also while a change before it is told.
    var newest: Snapshot { state.withLock { $0.snapshot } }

    /// The newest snapshot; while a change is told to an observer, and on that thread only, the snapshot it tells of.
    var visible: Snapshot {
        if let told = ToldSnapshot.current, told.state == ObjectIdentifier(self),
            let snapshot = told.snapshot as? Snapshot
        {
            return snapshot
        }
        return newest
    }

    /// Evaluates `body` with `snapshot` ``visible`` to it.
    func withVisible<Value>(_ snapshot: Snapshot, _ body: () -> Value) -> Value {
        ToldSnapshot.$current.withValue(
            ToldSnapshot(state: ObjectIdentifier(self), snapshot: snapshot), operation: body)
    }

    /// Changes the snapshot; `change` runs under the lock and must not call out.
    @discardableResult
    func update<Value: Sendable>(_ change: (inout Snapshot) -> Value) -> Value {
        let (value, schedules) = state.withLock { state in
            let old = state.snapshot
            let value = change(&state.snapshot)
            state.version += 1
            guard !state.observers.isEmpty else { return (value, false) }
            state.pending.append(Change(old: old, new: state.snapshot, version: state.version))
            if state.pending.count > Self.maximumPending {
                state.pending[1].old = state.pending[0].old
                state.pending.removeFirst()
            }
            defer { state.isDrainScheduled = true }
            return (value, !state.isDrainScheduled)
        }
        if schedules { DispatchQueue.main.async { self.drain() } }
        return value
    }

    /// Registers a handler of the changes made after the snapshot that is returned; kept until it is removed.
    func add(_ cancellation: Cancellation, _ handler: @escaping Handler) -> Snapshot {
        state.withLock { state in
            state.observers.append(Observer(since: state.version, cancellation: cancellation, handler: handler))
            return state.snapshot
        }
    }

    /// Drops the handler that was registered with `cancellation`.
    func remove(_ cancellation: Cancellation) {
        // What the handler captured is released outside of the lock: it may be what uses this state as it goes.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.cancellation === cancellation }.map { state.observers.remove(at: $0) }
        }
    }

    /// Drops every observer and every change not yet told.
    func removeAllObservers() {
        // What the handlers captured is released outside of the lock.
        _ = state.withLock { state in
            state.pending.removeAll()
            let dropped = state.observers
            state.observers.removeAll()
            return dropped
        }
    }

    private func drain() {
        while let (change, observers) = nextChange() {
            for observer in observers where observer.since < change.version && !observer.cancellation.isCancelled {
                observer.handler(self, change)
            }
        }
    }

    private func nextChange() -> (Change, [Observer])? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isDrainScheduled = false
                return nil
            }
            return (state.pending.removeFirst(), state.observers)
        }
    }
}

/// The snapshot that properties show on a thread that is being told of a change, so that a key path, also one through a
/// caller's computed property, gives the value of that change and not a later one.
private struct ToldSnapshot: Sendable {
    @TaskLocal static var current: ToldSnapshot?

    var state: ObjectIdentifier
    var snapshot: any Sendable
}
