import Synchronization

/// A flag that goes up once and stays up, from any thread.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    /// Whether it is up.
    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// Puts it up; false when it was up before.
    @discardableResult
    func cancel() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
