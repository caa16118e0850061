internal import CLibuv
public import CoreModel
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// A libuv loop on one thread, as a Swift executor.
///
/// What belongs to the loop is touched on its thread only and asserts it with ``checkIsolated()``. Other threads reach it
/// through ``execute(_:)``, by calling an actor whose executor it is, or with ``stop()``.
///
/// Actors may outlive their loop: their jobs then run one at a time on a thread that exists while there are any.
@safe public final class EventLoop: SerialExecutor, @unchecked Sendable {  // `inbox` is a `Mutex`, `thread` and `ended`
    // are synchronised; all else is touched on the loop's thread.
    /// How far the loop's life has come.
    enum Phase {
        case open
        /// Handles are being closed: calls are refused, but jobs of actors still run.
        case closing
        /// The library's loop is closed. Jobs run on a thread of their own.
        case closed
    }

    /// Something to run on the loop's thread.
    enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    struct Inbox {
        var phase = Phase.open
        var work: [Work] = []
        /// Whether somebody is going to look into `work`.
        var isWakePending = false
        var isStopping = false
        /// Whether ``EventLoop/run()`` has nothing more to do.
        var hasReturned = false
        /// Who awaits that.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What one wake-up runs at most before sockets get their turn.
    private static let workPerWakeUp = 1024
    /// Work whose memory is kept for the next round.
    private static let keptCapacity = 4096
    /// How long a loop that ends waits for requests of files, when nothing else is left.
    static let filePatience: Duration = .seconds(3)
    /// The size of the buffer that reads are lent.
    static let readBufferByteCount = 256 * 1024

    let inbox = Mutex(Inbox())
    private let handle: UnsafeMutablePointer<uv_loop_t>
    private let wakeUp: UnsafeMutablePointer<uv_async_t>
    /// Has the loop look at the time while it ends and waits for what is under way.
    private let endTimer: UnsafeMutablePointer<uv_timer_t>
    /// The buffer that every read of the loop is lent in turn.
    let readBuffer: UnsafeMutablePointer<CChar>
    /// The thread that may touch what belongs to the loop; 0 for none.
    let thread = Atomic<UInt>(0)
    /// Work taken from the inbox and not yet run; kept for its memory.
    private var batch: [Work] = []
    /// Requests of files that are under way.
    var fileRequestCount = 0
    /// Whether the loop ended with requests of files under way: the library's memory is theirs for ever.
    private var isAbandoned = false
    /// Signalled once ``run()`` has nothing more to do.
    private let ended = DispatchSemaphore(value: 0)
    /// Whether new handles may be made; false once the loop closes what it has.
    private(set) var acceptsHandles = true
    /// What other modules keep once for a loop, by a type of theirs. On the loop's thread only.
    public var attachments: [ObjectIdentifier: AnyObject] = [:]
    private var stopHandlers: [(key: ObjectIdentifier, handler: () -> Void)] = []
    /// This module's open handles.
    private var handles: [ObjectIdentifier: LoopHandle] = [:]

    /// Makes a loop; ``run()`` on a thread of the caller's makes it work.
    ///
    /// - Throws: ``LoopError`` when the system has no descriptor left.
    public init() throws(LoopError) {
        unsafe handle = .allocate(capacity: 1)
        unsafe wakeUp = .allocate(capacity: 1)
        unsafe endTimer = .allocate(capacity: 1)
        unsafe readBuffer = .allocate(capacity: Self.readBufferByteCount)
        var code = unsafe uv_loop_init(handle)
        if code == 0 {
            unsafe wakeUp.initialize(to: uv_async_t())
            code = unsafe uv_async_init(handle, wakeUp) { wakeUp in
                guard let data = unsafe wakeUp?.pointee.data else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().drain()
            }
        }
        guard code == 0 else {
            unsafe handle.deallocate()
            unsafe wakeUp.deallocate()
            unsafe endTimer.deallocate()
            unsafe readBuffer.deallocate()
            throw LoopError(rawValue: code)
        }
        unsafe endTimer.initialize(to: uv_timer_t())
        unsafe uv_timer_init(handle, endTimer)  // Can't fail.
        // Unretained: the wake-up handle is closed before `run` returns, and `deinit` frees it after that.
        unsafe wakeUp.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        // One that never ran: nothing on it exists any more, since that would keep the loop.
        if !hasEnded {
            closeOwnHandles()
            unsafe uv_loop_close(handle)
        }
        guard !isAbandoned else { return }
        unsafe wakeUp.deallocate()
        unsafe endTimer.deallocate()
        unsafe handle.deallocate()
        unsafe readBuffer.deallocate()
    }

    /// Makes a loop that runs on a thread of its own until ``stop()``.
    ///
    /// - Parameter name: The thread's name, as debuggers and `/proc` show it; at most 15 bytes count.
    public static func startThread(named name: String) throws(LoopError) -> EventLoop {
        let loop = try EventLoop()
        let thread = Thread {
            // Foundation keeps a name to itself that is set before the thread runs.
            unsafe CLibuv_nameThread(name)
            loop.run()
        }
        thread.stackSize = 1 << 20
        thread.start()
        return loop
    }

    /// Runs the loop on the calling thread until ``stop()``; then closes what is left and returns. At most once.
    public func run() {
        precondition(inbox.withLock { $0.phase } == .open, "a loop runs once")
        thread.store(Self.currentThread, ordering: .sequentiallyConsistent)
        let signals = BrokenPipeSignal()
        unsafe uv_run(handle, UV_RUN_DEFAULT)  // The wake-up handle keeps it going until `close`.
        finish()
        signals.restore()
        ended.signal()
        let waiting = inbox.withLock { inbox in
            inbox.hasReturned = true
            defer { inbox.waiting = [] }
            return inbox.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Ends the loop from any thread: runs what was enqueued before, closes every handle and lets ``run()`` return.
    /// Calls after it are dropped.
    public func stop() {
        inbox.withLock { inbox in
            guard inbox.phase == .open else { return }
            inbox.isStopping = true
            wake(&inbox)
        }
    }

    /// Ends the loop and returns once ``run()`` has nothing more to do. Never from the loop's own thread.
    public func stopAndWait() {
        precondition(!isCurrent, "a thread can't wait for its own end")
        stop()
        ended.wait()
        ended.signal()  // For others who wait.
    }

    /// Ends the loop and returns once ``run()`` has nothing more to do, without holding a thread meanwhile.
    public func shutDown() async {
        stop()
        await withCheckedContinuation { continuation in
            let hasReturned = inbox.withLock { inbox in
                if !inbox.hasReturned { inbox.waiting.append(continuation) }
                return inbox.hasReturned
            }
            if hasReturned { continuation.resume() }
        }
    }

    /// Runs `work` on the loop's thread, in order. From any thread.
    ///
    /// - Returns: false when the loop has stopped and `work` is dropped.
    @discardableResult
    public func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
        inbox.withLock { inbox in
            guard inbox.phase == .open else { return false }
            inbox.work.append(.call(work))
            wake(&inbox)
            return true
        }
    }

    public func enqueue(_ job: consuming ExecutorJob) { submit(.job(UnownedJob(job))) }

    /// Whether no handle of the loop is left, nor ever will be.
    var hasEnded: Bool { inbox.withLock { $0.phase } == .closed }

    /// Takes work that can't be refused: a task whose job never runs would wait for ever.
    func submit(_ work: Work) {
        let startsThread = inbox.withLock { inbox in
            inbox.work.append(work)
            guard inbox.phase == .closed else {
                wake(&inbox)
                return false
            }
            defer { inbox.isWakePending = true }
            return !inbox.isWakePending
        }
        if startsThread { Thread.detachNewThread { self.runLate() } }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    public func checkIsolated() { precondition(isCurrent, "not on the loop's thread") }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { thread.load(ordering: .relaxed) == Self.currentThread }

    /// The loop's clock: monotonic, in nanoseconds. From any thread.
    public var now: MonotonicInstant { Self.now }

    /// The clock of all loops.
    public static var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(uv_hrtime())) }

    /// The library's loop.
    var uv: UnsafeMutablePointer<uv_loop_t> { unsafe handle }

    /// Has `handler` called, on the loop, when the loop stops and before it closes its handles: for what uses other
    /// libraries' sockets on it.
    public func onStop(_ key: ObjectIdentifier, _ handler: @escaping () -> Void) {
        checkIsolated()
        stopHandlers.append((key, handler))
    }

    /// Takes a handler of ``onStop(_:_:)`` back.
    public func removeStopHandler(_ key: ObjectIdentifier) { stopHandlers.removeAll { $0.key == key } }

    func register(_ handle: LoopHandle) { handles[ObjectIdentifier(handle)] = handle }

    func unregister(_ handle: LoopHandle) { handles[ObjectIdentifier(handle)] = nil }

    static var currentThread: UInt { UInt(pthread_self()) }

    /// Asks the loop to look into the inbox; under the lock, so that closing can't come between.
    private func wake(_ inbox: inout Inbox) {
        guard !inbox.isWakePending else { return }
        inbox.isWakePending = true
        unsafe _ = uv_async_send(wakeUp)
    }

    private func drain() {
        var count = 0
        while count < Self.workPerWakeUp {
            guard takeBatch() else {
                if inbox.withLock({ $0.phase }) == .closing { close() }
                return
            }
            count += batch.count
            runBatch()
        }
        unsafe _ = uv_async_send(wakeUp)  // `isWakePending` still holds.
    }

    /// Moves the inbox's work to `batch`; false when there was none.
    private func takeBatch() -> Bool {
        inbox.withLock { inbox in
            swap(&inbox.work, &batch)
            guard batch.isEmpty else { return true }
            inbox.isWakePending = false
            // In the same breath: a call that comes between would find its handles closed.
            if inbox.isStopping, inbox.phase == .open { inbox.phase = .closing }
            return false
        }
    }

    private func runBatch() {
        for work in batch {
            switch work {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .call(let call): call()
            }
        }
        // A burst shall not keep its memory.
        batch.removeAll(keepingCapacity: batch.capacity <= Self.keptCapacity)
    }

    /// Closes every handle but the wake-up one, which keeps the loop going no longer.
    private func close() {
        guard acceptsHandles else { return }
        acceptsHandles = false
        let handlers = stopHandlers
        stopHandlers = []
        for (_, handler) in handlers { handler() }
        attachments = [:]
        // What other libraries own, stop handlers have closed.
        for handle in handles.values { handle.closeForLoopStop() }
        unsafe uv_unref(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self))
        let milliseconds = UInt64(Self.filePatience.inMilliseconds / 10)
        unsafe uv_timer_start(
            endTimer, { timer in if let loop = unsafe timer?.pointee.loop { unsafe uv_stop(loop) } }, milliseconds,
            milliseconds)
        unsafe uv_unref(UnsafeMutableRawPointer(endTimer).assumingMemoryBound(to: uv_handle_t.self))
    }

    /// Closes what keeps the loop going and ends it.
    private func closeOwnHandles() {
        unsafe uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
        unsafe uv_close(UnsafeMutableRawPointer(endTimer).assumingMemoryBound(to: uv_handle_t.self), nil)
        unsafe uv_run(handle, UV_RUN_DEFAULT)
    }

    /// Runs until every handle is closed and no work is left, then closes the library's loop.
    ///
    /// A disk or a server of files can hang for ever, and its requests with it. The rest doesn't wait for them longer
    /// than ``filePatience``: they keep their memory then, the library's loop is left as it is, and nobody is told.
    private func finish() {
        var patienceEnd: MonotonicInstant?
        while true {
            while takeBatch() { runBatch() }
            if unsafe uv_loop_alive(handle) != 0 {
                if isWaitingForFilesAlone {
                    let end = patienceEnd ?? now.advanced(by: Self.filePatience)
                    patienceEnd = end
                    isAbandoned = end <= now
                } else {
                    patienceEnd = nil
                }
                if !isAbandoned {
                    // Until it has nothing to do, or looks at the time.
                    unsafe uv_run(handle, UV_RUN_DEFAULT)
                    continue
                }
            }
            if inbox.withLock({ endIfIdle(&$0) }) { break }
        }
        guard !isAbandoned else { return }
        closeOwnHandles()
        let code = unsafe uv_loop_close(handle)
        precondition(code == 0, "a handle outlived its loop")
    }

    /// Whether no handle but the loop's own is left, and no request but those of files.
    private var isWaitingForFilesAlone: Bool {
        unsafe fileRequestCount > 0 && handle.pointee.active_handles == 0
            && Int(handle.pointee.active_reqs.count) == fileRequestCount
    }

    /// Lets go of the loop, unless there is work.
    private func endIfIdle(_ inbox: inout Inbox) -> Bool {
        guard inbox.work.isEmpty else { return false }
        inbox.phase = .closed
        inbox.isWakePending = false
        // Under the lock: a thread that runs late work becomes the owner after this.
        thread.store(0, ordering: .sequentiallyConsistent)
        return true
    }

    /// Runs work that came after the loop's end, on a thread started for it.
    private func runLate() {
        thread.store(Self.currentThread, ordering: .sequentiallyConsistent)
        while true {
            let isDone = inbox.withLock { inbox in
                swap(&inbox.work, &batch)
                guard batch.isEmpty else { return false }
                thread.store(0, ordering: .sequentiallyConsistent)
                inbox.isWakePending = false
                return true
            }
            if isDone { return }
            runBatch()
        }
    }
}
