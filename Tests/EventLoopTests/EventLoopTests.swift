import CoreModel
import EventLoop
import Synchronization
import Testing

/// An actor that lives on a loop, as sessions do.
private actor Resident {
    private let loop: EventLoop
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) { self.loop = loop }

    func increment() -> Int {
        loop.checkIsolated()
        count += 1
        return count
    }
}

@Suite(.timeLimit(.minutes(5))) struct EventLoopTests {
    @Test func anActorRunsOnItsLoop() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let resident = Resident(loop: loop)
        for _ in 0..<99 { _ = await resident.increment() }
        #expect(await resident.increment() == 100)
        loop.stop()
    }

    @Test func whatWasEnqueuedBeforeStopRuns() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let ran = Mutex(0)
        await withCheckedContinuation { continuation in
            for _ in 0..<5000 { loop.execute { ran.withLock { $0 += 1 } } }
            loop.execute { continuation.resume() }
            loop.stop()
        }
        #expect(ran.withLock { $0 } == 5000)
    }

    @Test func shutDownReturnsWhenTheLoopHasRunAllItHadHoweverManyAwaitIt() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let ran = Mutex(0)
        for _ in 0..<5000 { loop.execute { ran.withLock { $0 += 1 } } }
        async let first: Void = loop.shutDown()
        async let second: Void = loop.shutDown()
        _ = await (first, second)
        #expect(ran.withLock { $0 } == 5000)
        #expect(!loop.execute {})
        // And when it is long over.
        await loop.shutDown()
    }

    @Test func aTimerFiresOnceEachTimeItIsArmed() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let fired: Int = await withCheckedContinuation { continuation in
            loop.execute {
                final class Holder { var timer: LoopTimer?; var count = 0 }
                let holder = Holder()
                holder.timer = LoopTimer(loop: loop) {
                    holder.count += 1
                    if holder.count < 3 {
                        holder.timer?.arm(after: .milliseconds(1))
                    } else {
                        holder.timer = nil
                        continuation.resume(returning: holder.count)
                    }
                }
                holder.timer?.arm(at: loop.now)
            }
        }
        #expect(fired == 3)
        loop.stop()
    }

    @Test func bytesCrossALoopbackConnectionInOrderThroughAFullQueue() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let sum: (Int, Bool) = await withCheckedContinuation { continuation in
            loop.execute { Exchange(loop: loop, byteCount: 8 << 20, continuation).start() }
        }
        #expect(sum.0 == 8 << 20)
        #expect(sum.1)
        loop.stop()
    }

    @Test func connectingToAPortWhereNobodyListensIsRefused() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let error: LoopError? = await withCheckedContinuation { continuation in
            loop.execute {
                do {
                    // A port that was just free.
                    let listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { _ in }
                    guard let address = listener.localAddress else { return continuation.resume(returning: nil) }
                    listener.close()
                    let connection = try TCPConnection(loop: loop, to: address)
                    connection.onClose = { error in
                        withExtendedLifetime(connection) { continuation.resume(returning: error) }
                        connection.onOpen = nil
                    }
                } catch {
                    continuation.resume(returning: error as? LoopError)
                }
            }
        }
        #expect(error == .connectionRefused)
        loop.stop()
    }

    @Test func stoppingEndsOpenConnectionsAndTimers() async throws {
        let loop = try EventLoop.startThread(named: "test")
        let closed: LoopError? = await withCheckedContinuation { continuation in
            loop.execute {
                do {
                    final class Holder {
                        var listener: TCPListener?
                        var accepted: TCPConnection?
                        var timer: LoopTimer?
                    }
                    let holder = Holder()
                    holder.timer = LoopTimer(loop: loop) { _ = holder }
                    holder.timer?.arm(after: .seconds(3600))
                    holder.listener = try TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) {
                        holder.accepted = $0
                        holder.accepted?.onClose = { error in
                            holder.timer = nil
                            holder.listener = nil
                            continuation.resume(returning: error)
                        }
                        holder.accepted?.startReading()
                        loop.stop()
                    }
                    guard let address = holder.listener?.localAddress else { return }
                    let connection = try TCPConnection(loop: loop, to: address)
                    connection.onClose = { _ in _ = connection }
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        }
        #expect(closed == .cancelled || closed == .endOfStream)
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:8080", "[0:0:0:0:0:0:0:1]:8080"), ("localhost:1", "127.0.0.1:1"),
        (":9", "0.0.0.0:9"),
    ])
    func addressesAreRead(text: String, expected: String) {
        #expect(NetworkAddress(parsing: text)?.description == expected)
    }

    @Test(arguments: ["", "1.2.3.4", "1.2.3.4:70000", "a.b:80", "[::1]", "1.2.3.4.5:6"])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(NetworkAddress(parsing: text) == nil)
    }
}

/// Sends a pattern to itself and counts what arrives.
private final class Exchange {
    private let loop: EventLoop
    private let byteCount: Int
    private let continuation: CheckedContinuation<(Int, Bool), Never>
    private var listener: TCPListener?
    private var sender: TCPConnection?
    private var receiver: TCPConnection?
    private var sent = 0
    private var received = 0
    private var isIntact = true

    init(loop: EventLoop, byteCount: Int, _ continuation: CheckedContinuation<(Int, Bool), Never>) {
        self.loop = loop
        self.byteCount = byteCount
        self.continuation = continuation
    }

    func start() {
        listener = try? TCPListener(loop: loop, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0)) { connection in
            self.receiver = connection
            connection.onRead = { bytes in
                for offset in stride(from: 0, to: bytes.byteCount, by: 1009) {
                    let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                    if byte != UInt8(truncatingIfNeeded: (self.received + offset) / 7) { self.isIntact = false }
                }
                self.received += bytes.byteCount
            }
            connection.onClose = { _ in
                self.continuation.resume(returning: (self.received, self.isIntact))
                self.listener = nil
                self.sender = nil
                self.receiver = nil
            }
            connection.startReading()
        }
        guard let address = listener?.localAddress else { return }
        sender = try? TCPConnection(loop: loop, to: address)
        sender?.onOpen = { self.send() }
        sender?.onDrain = { self.send() }
    }

    private func send() {
        while sent < byteCount, let sender, sender.queuedByteCount == 0 {
            let count = min(100_000, byteCount - sent)
            sender.write((sent..<sent + count).map { UInt8(truncatingIfNeeded: $0 / 7) })
            sent += count
        }
        if sent == byteCount, sender?.queuedByteCount == 0 { sender?.close() }
    }
}
