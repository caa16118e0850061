internal import CoreModel
internal import Scheduling

/// What decides for one viewer in place of the production scheduler: the same inputs, the same outputs, the same rules of
/// driving (``Scheduler``).
protocol FetchPolicy {
    mutating func handle(_ input: SchedulerInput, now: MonotonicInstant)
    /// The next thing to do; `.wait` when there is nothing before an input or an instant.
    mutating func poll(now: MonotonicInstant) -> SchedulerOutput
}
