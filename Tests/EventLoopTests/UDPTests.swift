import CoreModel
import EventLoop
import Testing

private let anyPort = NetworkAddress(ipv4: 0x7F00_0001, port: 0)

/// Two sockets on one loop.
private final class Pair {
    let loop: EventLoop
    let first: UDPSocket
    let second: UDPSocket
    var timer: LoopTimer?
    var received: [[UInt8]] = []
    var secondAddress: NetworkAddress { second.localAddress ?? anyPort }

    init(loop: EventLoop) throws {
        self.loop = loop
        first = try UDPSocket(loop: loop, at: anyPort)
        second = try UDPSocket(loop: loop, at: anyPort)
    }

    func close() {
        first.close()
        second.close()
        timer = nil
    }
}

/// Runs `body` with a pair on a loop of its own.
private func withPair<Value: Sendable>(
    _ body: @escaping @Sendable (Pair, @escaping (Value) -> Void) -> Void
) async throws -> Value {
    let loop = try EventLoop.startThread(named: "udp")
    defer { loop.stopAndWait() }
    return try await withCheckedThrowingContinuation { continuation in
        loop.execute {
            do {
                let pair = try Pair(loop: loop)
                body(pair) { value in
                    pair.close()
                    continuation.resume(returning: value)
                }
            } catch { continuation.resume(throwing: error) }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct UDPTests {
    @Test func datagramsKeepTheirBordersAndNameTheirSender() async throws {
        let sizes = [0, 1, 1200, 9000, 65_507]
        let (received, isFromFirst) = try await withPair { (pair, done: @escaping (([Int], Bool)) -> Void) in
            pair.second.setReceiveBuffer(1 << 20)
            var received: [Int] = []
            var isFromFirst = true
            pair.second.onDatagram = { bytes, sender in
                received.append(bytes.byteCount)
                isFromFirst = isFromFirst && sender == pair.first.localAddress
                if received.count == sizes.count { done((received, isFromFirst)) }
            }
            for size in sizes { pair.first.send([UInt8](repeating: 7, count: size), to: pair.secondAddress) }
        }
        #expect(received == sizes)
        #expect(isFromFirst)
    }

    @Test func answersGoBackToTheSender() async throws {
        let rounds = try await withPair { (pair, done: @escaping (Int) -> Void) in
            var rounds = 0
            pair.second.onDatagram = { bytes, sender in pair.second.send(bytes, to: sender) }
            pair.first.onDatagram = { bytes, sender in
                rounds += 1
                if rounds == 500 { done(rounds) } else { pair.first.send(bytes, to: sender) }
            }
            pair.first.send([1, 2, 3], to: pair.secondAddress)
        }
        #expect(rounds == 500)
    }

    @Test func datagramsThatTheSystemRefusesAreCounted() async throws {
        let counts = try await withPair { (pair, done: @escaping ([Int]) -> Void) in
            let isTaken = pair.first.send([UInt8](repeating: 0, count: 70_000), to: pair.secondAddress)
            done([isTaken ? 1 : 0, pair.first.sentCount, pair.first.droppedCount])
        }
        #expect(counts == [0, 0, 1])
    }

    @Test func closingInsideACallbackEndsDelivery() async throws {
        let count = try await withPair { (pair, done: @escaping (Int) -> Void) in
            var count = 0
            pair.second.onDatagram = { _, _ in
                count += 1
                pair.second.close()
            }
            for _ in 0..<8 { pair.first.send([9], to: pair.secondAddress) }
            let closed = pair.second
            let timer = LoopTimer(loop: pair.loop) {
                #expect(!closed.send([1], to: anyPort))
                #expect(closed.localAddress == nil && closed.queuedByteCount == 0)
                done(count)
            }
            timer.arm(after: .milliseconds(30))
            pair.timer = timer
        }
        #expect(count == 1)
    }

    @Test func aBoundAddressIsTaken() async throws {
        let error = try await withPair { (pair, done: @escaping (LoopError?) -> Void) in
            do {
                _ = try UDPSocket(loop: pair.loop, at: pair.secondAddress)
                done(nil)
            } catch { done(error as? LoopError) }
        }
        #expect(error == .addressInUse)
    }

    @Test func stoppingTheLoopClosesSockets() throws {
        let loop = try EventLoop.startThread(named: "udp")
        loop.execute {
            guard let socket = try? UDPSocket(loop: loop, at: anyPort), let address = socket.localAddress else {
                return
            }
            // Handed to itself for ever.
            socket.onDatagram = { bytes, sender in socket.send(bytes, to: sender) }
            socket.send([1], to: address)
        }
        loop.stopAndWait()
    }
}
