import CoreModel
import Dispatch
import Foundation
import Synchronization

/// A caller's block that is called as media time passes. Lives as long as its token.
///
/// While the clock runs a timer on the block's own queue waits for the next multiple of the interval. Timer and jumps
/// leave at most one call waiting on the queue.
final class PeriodicObserver: Sendable {
    private struct State {
        var isRunning = false
        var isCallQueued = false
        var timer: (any DispatchSourceTimer)?
        /// Counts the starts of the clock, so that a timer of an earlier one does nothing.
        var generation: UInt64 = 0
    }

    /// Intervals below this are taken as it: more calls would only be dropped.
    static let shortestInterval = MediaTime(ticks: 1, timescale: 200)

    private let interval: MediaTime?
    private let queue: DispatchQueue
    private let block: UncheckedBox<() -> Void>
    private let position: @Sendable () -> MediaTime
    private let removal = Cancellation()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - interval: Of media time; nil for calls at start, stop and jumps alone.
    ///   - position: The clock.
    init(
        interval: MediaTime?, queue: DispatchQueue, block: @escaping () -> Void,
        position: @escaping @Sendable () -> MediaTime
    ) {
        self.interval = interval.map { max($0, Self.shortestInterval) }
        self.queue = queue
        self.block = UncheckedBox(block)
        self.position = position
    }

    deinit { remove() }

    /// No new call starts after it.
    func remove() {
        removal.cancel()
        stopTimer()
    }

    /// The clock started, stopped or jumped.
    func clockChanged(isRunning: Bool) {
        guard !removal.isCancelled else { return }
        stopTimer()
        queueCall()
        guard isRunning else { return }
        let generation = state.withLock { state in
            state.isRunning = true
            return state.generation
        }
        armTimer(generation)
    }

    private func stopTimer() {
        let timer = state.withLock { state in
            state.isRunning = false
            state.generation += 1
            defer { state.timer = nil }
            return state.timer.map(UncheckedBox.init)
        }
        timer?.value.cancel()
    }

    private func queueCall() {
        let isFirst = state.withLock { state in
            defer { state.isCallQueued = true }
            return !state.isCallQueued
        }
        guard isFirst else { return }
        queue.async { [weak self] in
            guard let self else { return }
            state.withLock { $0.isCallQueued = false }
            call()
        }
    }

    private func call() {
        guard !removal.isCancelled else { return }
        block.value()
    }

    /// Waits for the next multiple of the interval.
    private func armTimer(_ generation: UInt64) {
        guard let interval else { return }
        let now = position()
        // One tick of the interval after the last multiple that has passed; the clock's steps are nanoseconds.
        let passed = (Int128(now.ticks) * Int128(interval.timescale))
            .quotientAndRemainder(dividingBy: Int128(now.timescale) * Int128(interval.ticks)).quotient
        guard let count = Int64(exactly: passed + 1) else { return }
        let (ticks, overflow) = interval.ticks.multipliedReportingOverflow(by: count)
        guard !overflow else { return }
        let next = MediaTime(ticks: ticks, timescale: interval.timescale)
        schedule(next, after: (next - now).duration, generation)
    }

    private func schedule(_ next: MediaTime, after delay: Duration, _ generation: UInt64) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let nanoseconds = max(0, delay.nanosecondsClamped)
        timer.schedule(
            deadline: .now() + .nanoseconds(Int(clamping: nanoseconds)), leeway: .milliseconds(1))
        timer.setEventHandler { [weak self] in self?.timerFired(next, generation) }
        let box = UncheckedBox<any DispatchSourceTimer>(timer)
        let isCurrent = state.withLock { state in
            guard state.isRunning, state.generation == generation else { return false }
            state.timer = box.value
            return true
        }
        // A source must have been activated before it is released.
        timer.activate()
        if !isCurrent { timer.cancel() }
    }

    private func timerFired(_ next: MediaTime, _ generation: UInt64) {
        guard !removal.isCancelled, state.withLock({ $0.isRunning && $0.generation == generation }) else { return }
        let now = position()
        guard now >= next else { return schedule(next, after: (next - now).duration, generation) }
        call()
        guard state.withLock({ $0.isRunning && $0.generation == generation }) else { return }
        armTimer(generation)
    }
}

/// What ``VBPlayer/addPeriodicTimeObserver(forInterval:queue:using:)`` gives: the observer lives as long as it.
final class PeriodicObserverToken: NSObject, Sendable {
    let observer: PeriodicObserver

    init(_ observer: PeriodicObserver) { self.observer = observer }

    deinit { observer.remove() }
}
