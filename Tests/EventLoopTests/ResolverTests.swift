import CoreModel
import EventLoop
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResolverTests {
    private typealias Answer = Result<[NetworkAddress], LoopError>

    @Test(arguments: ["127.0.0.1", "localhost"])
    func theMachineFindsItself(host: String) async throws {
        let loop = try EventLoop.startThread(named: "resolver")
        let answer: Answer = await withCheckedContinuation { continuation in
            loop.execute {
                Resolver(loop: loop).resolve(host, port: 81) { continuation.resume(returning: $0) }
            }
        }
        #expect(try answer.get().contains(NetworkAddress(ipv4: 0x7F00_0001, port: 81)))
        loop.stopAndWait()
    }

    @Test func cancelledLookUpsSayNothingAndTheLoopEnds() throws {
        let loop = try EventLoop.startThread(named: "resolver")
        loop.execute {
            let resolver = Resolver(loop: loop)
            // More than libuv has threads, so that some have not begun.
            let queries = (0..<40).map { _ in
                resolver.resolve("ip6-localhost", port: 1) { _ in Issue.record("told though cancelled") }
            }
            for query in queries { query.cancel() }
            for query in queries { query.cancel() }
        }
        loop.stopAndWait()
    }

    @Test func stoppingTheLoopEndsLookUps() throws {
        let loop = try EventLoop.startThread(named: "resolver")
        let ended = Mutex(0)
        loop.execute {
            for _ in 0..<40 {
                Resolver(loop: loop).resolve("ip6-localhost", port: 1) { _ in ended.withLock { $0 += 1 } }
            }
            loop.stop()
        }
        loop.stopAndWait()
        #expect(ended.withLock { $0 } == 40)
    }
}
