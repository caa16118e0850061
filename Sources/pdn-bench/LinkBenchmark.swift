import CoreModel
import Cryptography
import Delivery
import EventLoop
import Glibc
import Integrity
import SwarmProtocol
import Synchronization

/// One link that moves verified chunks over loopback TCP, each end on a loop of its own, against what it can't do without:
/// raw loopback TCP, one SHA-256 and two ChaCha20-Poly1305 passes over the same bytes.
enum LinkBenchmark {
    /// Bytes that are moved.
    private static let volume = 1 << 30

    static func run() throws -> [Measurement] {
        let raw = try rawCost()
        let (cpu, wall) = try linkCost()
        let gibibytes = Double(volume) / Double(1 << 30)
        return [
            Measurement(name: "link", value: cpu / gibibytes, unit: "CPU s/GiB, both ends", limit: raw / gibibytes),
            Measurement(
                name: "link-throughput", value: Double(volume) / Double(1 << 20) / wall, unit: "MiB/s", limit: nil),
        ]
    }

    // MARK: The floor

    private static func rawCost() throws -> Double {
        let buffer = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let rounds = volume >> 20
        let crypto = Libcrypto()
        var digest = [UInt8](repeating: 0, count: 32)
        var sealed = [UInt8](repeating: 0, count: buffer.count)
        let key = [UInt8](repeating: 1, count: 32)
        let hashing = cpuSeconds {
            for _ in 0..<rounds { buffer.withUnsafeBytes { crypto.sha256($0, into: &digest) } }
        }
        let sealing = cpuSeconds {
            for _ in 0..<rounds {
                buffer.withUnsafeBytes { input in
                    sealed.withUnsafeMutableBytes {
                        crypto.seal(input, messageByteCount: SegmentGeometry.chunkByteCount, key: key, into: $0)
                    }
                }
            }
        }
        return try rawTCP(buffer, rounds: rounds) + hashing + 2 * sealing
    }

    /// CPU seconds of two threads that move the volume through a loopback connection.
    private static func rawTCP(_ buffer: [UInt8], rounds: Int) throws -> Double {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isUp = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0 && connect(client, address, length) == 0
            }
        }
        let server = accept(listener, nil, nil)
        guard isUp, server >= 0 else { throw BenchmarkError.socket(errno) }
        defer { for descriptor in [listener, client, server] { close(descriptor) } }
        let total = buffer.count * rounds
        return cpuSeconds {
            let sender = Thread {
                for _ in 0..<rounds {
                    buffer.withUnsafeBytes { bytes in
                        var offset = 0
                        while offset < bytes.count {
                            let count = send(client, bytes.baseAddress! + offset, min(65_536, bytes.count - offset), 0)
                            guard count > 0 else { return }
                            offset += count
                        }
                    }
                }
            }
            var received = 0
            var input = [UInt8](repeating: 0, count: 65_536)
            while received < total {
                let count = recv(server, &input, input.count, 0)
                guard count > 0 else { break }
                received += count
            }
            sender.join()
        }
    }

    // MARK: The link

    private static func linkCost() throws -> (cpu: Double, wall: Double) {
        let segment = Segment()
        let uploading = try EventLoop.startThread(named: "upload")
        let downloading = try EventLoop.startThread(named: "download")
        defer {
            uploading.stop()
            downloading.stop()
        }
        let address = Handover<NetworkAddress?>()
        uploading.execute {
            let side = try? Uploader(loop: uploading, segment: segment, at: NetworkAddress(ipv4: 0x7F00_0001, port: 0))
            address.give(side?.manager.listenAddress)
        }
        guard let target = address.take() else { throw BenchmarkError.socket(errno) }
        let done = Handover<Void>()
        let wall = Usage.wallSeconds
        let cpu = cpuSeconds {
            downloading.execute {
                let side = try? Downloader(loop: downloading, segment: segment, rounds: volume / segment.byteCount) {
                    done.give(())
                }
                side?.connect(to: target)
            }
            done.take()
        }
        return (cpu, Usage.wallSeconds - wall)
    }
}

/// Why a benchmark can't run.
enum BenchmarkError: Error { case socket(Int32) }

/// A value that one thread waits for and another one gives.
final class Handover<Value>: @unchecked Sendable {  // The semaphore orders the two accesses.
    private let semaphore: UnsafeMutablePointer<sem_t>
    private var value: Value?

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit { semaphore.deallocate() }

    func give(_ value: sending Value) {
        self.value = value
        sem_post(semaphore)
    }

    @discardableResult
    func take() -> Value {
        while sem_wait(semaphore) != 0 {}
        return value!
    }

    /// The value, or `nil` when it doesn't come in time.
    func take(within span: Duration) -> Value? {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += Int(span.components.seconds)
        while sem_timedwait(semaphore, &deadline) != 0 {
            if errno == ETIMEDOUT { return nil }
        }
        return value
    }
}

/// A plain thread.
struct Thread {
    private var thread = pthread_t()

    init(_ work: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let work: @Sendable () -> Void
            init(_ work: @escaping @Sendable () -> Void) { self.work = work }
        }
        pthread_create(
            &thread, nil,
            { context in
                // Balances `passRetained` below.
                Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().work()
                return nil
            }, Unmanaged.passRetained(Box(work)).toOpaque())
    }

    func join() { pthread_join(thread, nil) }
}
