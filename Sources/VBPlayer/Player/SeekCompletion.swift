import Dispatch
import Synchronization

/// The block that a caller wants called when its seek is over: called exactly once, on the main queue, whatever becomes of
/// the seek; at the latest when the last reference to it goes.
final class SeekCompletion: Sendable {
    private let block: Mutex<UncheckedBox<() -> Void>?>

    init(_ block: @escaping () -> Void) { self.block = Mutex(UncheckedBox(block)) }

    deinit { complete() }

    /// Has the block called; again does nothing.
    func complete() {
        let pending = block.withLock { block in
            defer { block = nil }
            return block
        }
        guard let pending else { return }
        DispatchQueue.main.async { pending.value() }
    }
}
