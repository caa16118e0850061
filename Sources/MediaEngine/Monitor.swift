import CoreModel
internal import Glibc

/// State behind a lock that threads can wait on, for more than one reason.
///
/// `Mutex` has no condition variables, and decode threads must sleep until bytes, room or a command arrive. The lock is
/// never held across a call out of the module. Deadlines are on the monotonic clock.
@safe
final class Monitor<State>: @unchecked Sendable {  // `state` is touched under `mutex` alone.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: State) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        self.state = state
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the state to itself.
    func withLock<R, Failure: Error>(_ body: (inout State) throws(Failure) -> R) throws(Failure) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// What a waiter found.
    enum Step<R> {
        case done(R)
        /// Look again after the condition was signalled, or at the deadline.
        case wait(until: MonotonicInstant?)
    }

    /// Runs `body` until it is done, sleeping on `condition` in between.
    func wait<R>(on condition: Condition, _ body: (inout State) -> Step<R>) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .wait(let deadline): unsafe condition.wait(mutex: mutex, until: deadline)
            }
        }
    }
}

/// A reason to wait on a ``Monitor``.
@safe
final class Condition: @unchecked Sendable {  // pthread conditions are made to be shared between threads.
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Wakes every waiter.
    func signal() {
        unsafe pthread_cond_broadcast(condition)
    }

    fileprivate func wait(mutex: UnsafeMutablePointer<pthread_mutex_t>, until deadline: MonotonicInstant?) {
        guard let deadline, deadline != .distantFuture else {
            unsafe pthread_cond_wait(condition, mutex)
            return
        }
        let nanoseconds = max(deadline.nanoseconds, 0)
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        unsafe pthread_cond_timedwait(condition, mutex, &time)
    }
}

/// The system's monotonic clock.
enum MonotonicClock {
    /// Now, in nanoseconds since boot.
    static var now: MonotonicInstant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
