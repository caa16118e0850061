internal import CLibuv
public import CoreModel
internal import Foundation
internal import Glibc
internal import Synchronization

/// A libuv loop on one thread, as a Swift executor.
///
/// What belongs to the loop is touched on its thread only and asserts it with ``checkIsolated()``. Other threads reach it
/// through ``execute(_:)``, by calling an actor whose executor it is, or with ``stop()``.
@safe public final class EventLoop: SerialExecutor, @unchecked Sendable {  // `inbox` is a `Mutex`; `thread` is set once
    // before anything else runs; all else is touched on the loop's thread.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var isWakePending = false
        var isClosed = false
        var isStopping = false
    }

    /// What one wake-up runs at most before sockets get their turn.
    private static let jobsPerRound = 1024
    /// The size of the buffer that reads are lent.
    static let readBufferByteCount = 256 * 1024

    private let inbox = Mutex(Inbox())
    private let handle: UnsafeMutablePointer<uv_loop_t>
    private let wakeUp: UnsafeMutablePointer<uv_async_t>
    /// The buffer that every read of the loop is lent in turn.
    let readBuffer: UnsafeMutablePointer<CChar>
    private let thread = Atomic<UInt>(0)
    private var isFinished = false
    /// Whether new handles may be made; false once the loop closes what it has.
    private(set) var acceptsHandles = true
    /// What other modules keep once for a loop, by a type of theirs. On the loop's thread only.
    public var attachments: [ObjectIdentifier: AnyObject] = [:]
    private var keptObjects: [AnyObject] = []
    private var stopHandlers: [(key: ObjectIdentifier, handler: () -> Void)] = []
    /// This module's open handles.
    private var handles: [ObjectIdentifier: LoopHandle] = [:]

    /// Makes a loop; ``run()`` on a thread of the caller's makes it work.
    ///
    /// - Throws: ``LoopError`` when the system has no descriptor left.
    public init() throws(LoopError) {
        // A peer that is gone must be an error of a write, not a signal.
        _ = signal(SIGPIPE, SIG_IGN)
        unsafe handle = .allocate(capacity: 1)
        unsafe wakeUp = .allocate(capacity: 1)
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
            unsafe readBuffer.deallocate()
            throw LoopError(rawValue: code)
        }
        // Unretained: the wake-up handle is closed before `run` returns, and `deinit` frees it after that.
        unsafe wakeUp.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        if !isFinished {
            unsafe uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
            unsafe uv_run(handle, UV_RUN_DEFAULT)
            unsafe uv_loop_close(handle)
        }
        unsafe wakeUp.deallocate()
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

    /// Runs the loop on the calling thread until ``stop()``; then closes what is left and returns.
    public func run() {
        thread.store(Self.currentThread, ordering: .sequentiallyConsistent)
        Self.blockBrokenPipeSignal()
        unsafe uv_run(handle, UV_RUN_DEFAULT)
        // `stop` has closed all handles; callbacks of the last round may have enqueued more.
        drainRest()
        let code = unsafe uv_loop_close(handle)
        keptObjects = []
        precondition(code == 0, "a handle outlived its loop")
        isFinished = true
        thread.store(0, ordering: .sequentiallyConsistent)
    }

    /// Blocks SIGPIPE on this thread: libuv writes without MSG_NOSIGNAL, and a peer that has gone must be an error of that
    /// write and not the end of the process. The rest of the process keeps its disposition.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Ends the loop from any thread: runs what was enqueued before, closes every handle and lets ``run()`` return.
    /// Calls after it are dropped.
    public func stop() {
        inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            inbox.isStopping = true
            wake(&inbox)
        }
    }

    /// Runs `work` on the loop's thread, in order. From any thread; dropped once the loop has stopped.
    public func execute(_ work: @escaping @Sendable () -> Void) {
        inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            inbox.calls.append(work)
            wake(&inbox)
        }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        inbox.withLock { inbox in
            precondition(!inbox.isClosed, "a job was enqueued after its loop had stopped")
            inbox.jobs.append(job)
            wake(&inbox)
        }
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

    /// The library's loop, for other libraries that bring their own handles. On the loop's thread only.
    @unsafe public var rawLoop: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(handle) }

    /// The library's loop.
    var uv: UnsafeMutablePointer<uv_loop_t> { unsafe handle }

    /// Has `handler` called, on the loop, when the loop stops and before it closes its handles: for libraries that keep
    /// handles of their own on ``rawLoop``.
    public func onStop(_ key: ObjectIdentifier, _ handler: @escaping () -> Void) {
        checkIsolated()
        stopHandlers.append((key, handler))
    }

    /// Keeps an object until the loop has closed every handle: what another library's last callbacks need.
    public func keepUntilStopped(_ object: AnyObject) { keptObjects.append(object) }

    /// Takes a handler of ``onStop(_:_:)`` back.
    public func removeStopHandler(_ key: ObjectIdentifier) { stopHandlers.removeAll { $0.key == key } }

    func register(_ handle: LoopHandle) { handles[ObjectIdentifier(handle)] = handle }

    func unregister(_ handle: LoopHandle) { handles[ObjectIdentifier(handle)] = nil }

    private static var currentThread: UInt { UInt(pthread_self()) }

    /// Asks the loop to look into the inbox; under the lock, so that closing can't come between.
    private func wake(_ inbox: inout Inbox) {
        guard !inbox.isWakePending else { return }
        inbox.isWakePending = true
        unsafe _ = uv_async_send(wakeUp)
    }

    private func drain() {
        var rounds = 0
        while true {
            let (jobs, calls, isStopping) = inbox.withLock { inbox in
                defer {
                    inbox.jobs = []
                    inbox.calls = []
                    inbox.isWakePending = false
                }
                return (inbox.jobs, inbox.calls, inbox.isStopping)
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            for call in calls { call() }
            if jobs.isEmpty, calls.isEmpty {
                if isStopping { close() }
                return
            }
            rounds += jobs.count + calls.count
            if rounds > Self.jobsPerRound {
                inbox.withLock { wake(&$0) }
                return
            }
        }
    }

    private func close() {
        inbox.withLock { $0.isClosed = true }
        acceptsHandles = false
        let handlers = stopHandlers
        stopHandlers = []
        for (_, handler) in handlers { handler() }
        attachments = [:]
        // Only this module's: handles that another library put on the loop are that library's to close.
        for handle in handles.values { handle.closeForLoopStop() }
        unsafe uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
    }

    private func drainRest() {
        let (jobs, calls) = inbox.withLock { inbox in
            inbox.isClosed = true
            return (inbox.jobs, inbox.calls)
        }
        for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
        for call in calls { call() }
    }
}
