internal import CLibuv
public import CoreModel

/// A timer of a loop that calls its handler once each time it is armed. Confined to the loop; releasing it disarms it.
@safe public final class LoopTimer {
    private let loop: EventLoop
    private let handler: () -> Void
    private var handle: LoopHandle?

    /// Makes a disarmed timer; one of a loop that is stopping never fires.
    public init(loop: EventLoop, handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
        handle = unsafe try? LoopHandle(loop: loop, byteCount: MemoryLayout<uv_timer_t>.size) { loop, timer in
            unsafe uv_timer_init(loop, timer.assumingMemoryBound(to: uv_timer_t.self))
        }
        handle?.owner = self
    }

    deinit { handle?.closeFromAnywhere() }

    /// Arms the timer for an instant of the loop's clock; replaces what it was armed for. One in the past fires in the
    /// loop's next round.
    public func arm(at instant: MonotonicInstant) {
        arm(after: loop.now.duration(to: instant))
    }

    /// Arms the timer; the span is rounded up to a millisecond.
    public func arm(after span: Duration) {
        loop.checkIsolated()
        guard let timer = unsafe handle?.pointer?.assumingMemoryBound(to: uv_timer_t.self) else { return }
        let nanoseconds = max(0, span.nanosecondsClamped)
        let milliseconds = UInt64(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
        // Timers count from the loop's cached time, which a long callback leaves behind.
        unsafe uv_update_time(loop.uv)
        _ = unsafe uv_timer_start(
            timer, { unsafe LoopHandle.owner(of: $0, as: LoopTimer.self)?.handler() }, milliseconds, 0)
    }

    /// Disarms the timer.
    public func cancel() {
        loop.checkIsolated()
        guard let timer = unsafe handle?.pointer?.assumingMemoryBound(to: uv_timer_t.self) else { return }
        _ = unsafe uv_timer_stop(timer)
    }
}
