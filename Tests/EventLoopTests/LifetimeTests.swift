import CoreModel
import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    /// Counts on any thread.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test func anActorMayOutliveItsLoop() async throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        let survivor = Survivor(loop: loop)
        #expect(await survivor.increment() == 1)
        try await onOwnThread { loop.stopAndWait() }
        #expect(await survivor.increment() == 2)
        await withTaskGroup { group in
            for _ in 0..<200 { group.addTask { _ = await survivor.increment() } }
        }
        #expect(await survivor.increment() == 203)
    }

    @Test func whatWaitsForAConnectionGoesOnWhenTheLoopStops() async throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        let survivor = Survivor(loop: loop)
        async let error = survivor.waitForEnd()
        while await !survivor.isWaiting { await Task.yield() }
        loop.stop()
        #expect(await error == .cancelled)
    }

    @Test func theLastReferenceMayGoOnAnotherThread() async throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        let box = Box()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute {
                defer { continuation.resume() }
                let timer = LoopTimer(loop: loop) { Issue.record("fired though released") }
                timer.arm(after: .seconds(100))
                box.objects = [timer]
                if let listener = try? TCPListener(
                    loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0), onConnection: { _ in })
                {
                    box.objects.append(listener)
                }
            }
        }
        box.objects = []
        try await onOwnThread { loop.stopAndWait() }
    }

    @Test func aLoopThatNeverRanLeavesNothing() throws {
        weak var released: EventLoop?
        do {
            let loop = try EventLoop()
            released = loop
            loop.stop()
        }
        #expect(released == nil)
    }

    @Test func nothingRunsAfterTheEnd() throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        loop.stopAndWait()
        loop.stopAndWait()
        #expect(!loop.execute { Issue.record("ran after the end") })
        #expect(!loop.isCurrent)
    }

    @Test func workFromManyThreadsRunsWhileOneStopsTheLoop() async throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        let accepted = Counter()
        let ran = Counter()
        let stops = Counter()
        let late = Counter()
        loop.execute { loop.onStop(ObjectIdentifier(stops)) { stops.add() } }
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    try await onOwnThread {
                        let work: @Sendable () -> Void = {
                            ran.add()
                            if stops.value > 0 { late.add() }
                        }
                        for _ in 0..<4000 where loop.execute(work) { accepted.add() }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(2))
            loop.stop()
            try await group.waitForAll()
        }
        try await onOwnThread { loop.stopAndWait() }
        #expect(ran.value == accepted.value && stops.value == 1 && late.value == 0)
    }

    @Test func jobsAndCallsKeepTheirOrder() throws {
        let loop = try EventLoop.startThread(named: "lifetime")
        let order = Mutex<[Int]>([])
        for number in 0..<3000 { loop.execute { order.withLock { $0.append(number) } } }
        loop.stopAndWait()
        #expect(order.withLock { $0 } == Array(0..<3000))
    }

    @Test func endedLoopsLeaveNoThreadAndNoDescriptor() async throws {
        for _ in 0..<40 {
            let loop = try EventLoop.startThread(named: "left-behind")
            loop.execute {
                let listener = try? TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { _ in }
                let timer = LoopTimer(loop: loop) {}
                timer.arm(after: .seconds(100))
                loop.stop()
                withExtendedLifetime((listener, timer)) {}
            }
            try await onOwnThread { loop.stopAndWait() }
        }
        var names: [String] = []
        // A thread goes shortly after the loop says that it has ended.
        for _ in 0..<1000 {
            names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
                try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
            }
            guard names.contains("left-behind\n") else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(!names.contains("left-behind\n"))
    }

    @Test func writingToAPeerThatHasGoneIsAnErrorAndNoSignal() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let loop = try EventLoop.startThread(named: "lifetime")
            let error: LoopError? = await withCheckedContinuation { continuation in
                loop.execute { Abandoned(loop: loop) { continuation.resume(returning: $0) }.start() }
            }
            #expect(error != nil)
            loop.stopAndWait()
        }
    }

    @Test func handlesOnAnotherThreadTrap() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop.startThread(named: "lifetime")
            _ = LoopTimer(loop: loop) {}
        }
    }
}

/// Keeps objects of the loop; one thread at a time uses it, as the test waits in between.
private final class Box: @unchecked Sendable {
    var objects: [AnyObject] = []
}

/// An actor on a loop, which it may outlive.
private actor Survivor {
    private let loop: EventLoop
    private var count = 0
    private(set) var isWaiting = false
    private var objects: [AnyObject] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) { self.loop = loop }

    isolated deinit { loop.checkIsolated() }

    func increment() -> Int {
        loop.checkIsolated()
        count += 1
        return count
    }

    /// Waits for the end of a connection that nobody ends.
    func waitForEnd() async -> LoopError? {
        await withCheckedContinuation { continuation in
            do {
                let peers = Box()
                let listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) {
                    peers.objects.append($0)
                }
                guard let address = listener.localAddress else { return continuation.resume(returning: nil) }
                let connection = try TCPConnection(loop: loop, to: address)
                connection.onClose = { continuation.resume(returning: $0) }
                objects += [listener, connection]
                isWaiting = true
            } catch { continuation.resume(returning: error as? LoopError) }
        }
    }
}

/// Writes to a connection whose other side closes at once.
private final class Abandoned {
    private let loop: EventLoop
    private let completion: (LoopError) -> Void
    private var listener: TCPListener?
    private var connection: TCPConnection?
    private var timer: LoopTimer?

    init(loop: EventLoop, completion: @escaping (LoopError) -> Void) {
        self.loop = loop
        self.completion = completion
    }

    func start() {
        listener = try? TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { $0.close() }
        guard let address = listener?.localAddress else { return }
        connection = try? TCPConnection(loop: loop, to: address)
        // It never reads, so that only writing can find out.
        connection?.onOpen = { self.write() }
        connection?.onClose = { error in
            self.timer = nil
            self.listener = nil
            self.connection = nil
            self.completion(error)
        }
    }

    private func write() {
        connection?.write([1])
        timer = LoopTimer(loop: loop) { self.write() }
        timer?.arm(after: .milliseconds(2))
    }
}
