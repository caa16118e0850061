import CoreModel
import Cryptography
import Glibc
import Testing
import TrackerCore
import TrackerProtocol

/// Crowds: what one viewer's message costs must not grow with the number of those who are there.
struct CrowdTests {
    /// Counts what is drawn: the tracker draws once for each viewer that it looks at.
    private struct CountingGenerator: RandomNumberGenerator {
        var inner = SeededGenerator(seed: 9)
        var count = 0

        mutating func next() -> UInt64 {
            count += 1
            return inner.next()
        }
    }

    /// A tracker with viewers some time of play position apart, the first one at the start.
    private struct Crowd {
        var store = TrackerStore(configuration: TrackerConfiguration(), key: Script.membershipKey, suite: suite)
        var now = MonotonicInstant.origin + .seconds(1000)
        var generator = CountingGenerator()
        private let claimKey = suite.signingKey(seed: bytes32(7))

        init(count: UInt64, milliseconds: UInt64 = 10_000) {
            for number in 1...count { _ = join(number, position: (number - 1) * milliseconds) }
        }

        /// Says what a viewer plays.
        mutating func report(_ number: UInt64, bitsPerSecond: UInt32) {
            let report = ViewerReport(
                isPlaying: true, positionMilliseconds: number, mediaBitsPerSecond: bitsPerSecond)
            _ = send(.report(report), from: number)
        }

        /// Names fronts, and tells what it cost in seconds of this thread's processor time.
        mutating func nameFronts() -> (told: [UInt64: [PeerID]], seconds: Double) {
            now = now + .seconds(1)
            let start = processorSeconds()
            store.tick(now: now)
            let seconds = processorSeconds() - start
            var told: [UInt64: [PeerID]] = [:]
            while let output = store.poll() {
                if case .send(let connection, .front(let front)) = output { told[connection.rawValue] = front.members }
            }
            return (told, seconds)
        }

        private func processorSeconds() -> Double {
            var time = timespec()
            unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }

        mutating func join(_ number: UInt64, position: UInt64) -> [TrackerMessage] {
            let connection = ConnectionKey(rawValue: number)
            store.connected(connection, now: now, using: &generator)
            var nonce = Bytes32.zero
            for case .challenge(let challenge) in answers(to: number) { nonce = challenge.nonce }
            let request = JoinRequest(
                stream: StreamID(Bytes16(high: 1, low: 2)), peer: PeerID(Bytes32(words: (number, 1, 1, 1))),
                claimKey: claimKey.verificationKey, listenPort: 4000, startPositionMilliseconds: position)
            let signature = claimKey.sign(ControlProtocol.joinStatement(challenge: nonce, request: request))
            return send(.join(request, signature: signature), from: number)
        }

        mutating func send(_ message: ViewerMessage, from number: UInt64) -> [TrackerMessage] {
            store.received(
                message.encoded(), on: ConnectionKey(rawValue: number),
                from: NetworkAddress(ipv4: 0x7F00_0001, port: 1), now: now, time: UnixTime(seconds: 1_800_000_000),
                using: &generator)
            return answers(to: number)
        }

        private mutating func answers(to number: UInt64) -> [TrackerMessage] {
            var answers: [TrackerMessage] = []
            while let output = store.poll() {
                if case .send(ConnectionKey(rawValue: number), let message) = output { answers.append(message) }
            }
            return answers
        }
    }

    @Test func `An answer looks at so many viewers, near ones and some drawn from all`() {
        var crowd = Crowd(count: 3000)
        crowd.now = crowd.now + .seconds(2)
        crowd.generator.count = 0
        let places = crowd.send(.wantPeers(count: 30), from: 1500).names.map { Int($0.publicKey.words.0) }
        #expect(crowd.generator.count <= 2048)
        #expect(places.count == 30 && Set(places).count == 30 && !places.contains(1500))
        let near = places.filter { abs($0 - 1500) <= 15 }
        #expect((24...30).contains(near.count))
        #expect(places.contains { abs($0 - 1500) > 300 })
    }

    @Test(arguments: [(1, 1...40), (3000, 2960...3000)] as [(UInt64, ClosedRange<UInt64>)])
    func `Who is first or last of a crowd is told of those next to it`(number: UInt64, next: ClosedRange<UInt64>) {
        var crowd = Crowd(count: 3000)
        crowd.now = crowd.now + .seconds(2)
        let names = crowd.send(.wantPeers(count: 30), from: number).names
        #expect(names.count { next.contains($0.publicKey.words.0) } >= 24)
    }

    @Test func `A joiner is told the crowd's front, and who has left is named to nobody`() {
        var crowd = Crowd(count: 1500)
        crowd.now = crowd.now + .seconds(2)
        crowd.store.tick(now: crowd.now)
        #expect(crowd.join(2000, position: 7_000_000).fronts.count == 1)
        for number in 690...710 as ClosedRange<UInt64> {
            crowd.store.disconnected(ConnectionKey(rawValue: number), now: crowd.now)
        }
        let names = crowd.send(.wantPeers(count: 30), from: 2000).names.map(\.publicKey.words.0)
        #expect(names.count == 30 && names.allSatisfy { !(690...710).contains($0) })
    }

    @Test func `Rates that are made up neither make many fronts nor cost more than true ones, and hide nobody`() {
        var crowd = Crowd(count: 1040, milliseconds: 1)
        /// The fronts told, and the least cost of some rounds, each of which names all of them anew.
        func tell(_ bitsPerSecond: (UInt64) -> UInt32) -> (fronts: [UInt64: [PeerID]], seconds: Double) {
            var told: [UInt64: [PeerID]] = [:]
            var least = Double.infinity
            for round in 0..<4 as Range<UInt64> {
                for number in 1...1040 as ClosedRange<UInt64> {
                    let honest: UInt32 = number <= 1020 ? 600_000 : 3_000_000
                    crowd.report(number, bitsPerSecond: number <= 1000 ? bitsPerSecond(number + round) : honest)
                }
                let (fronts, seconds) = crowd.nameFronts()
                told.merge(fronts) { $1 }
                least = min(least, seconds)
            }
            return (told, least)
        }
        let honest = tell { $0 % 2 == 0 ? 600_000 : 3_000_000 }
        #expect(honest.fronts.count == 1040 && Set(honest.fronts.values).count == 2)
        let made = tell { UInt32(truncatingIfNeeded: $0 &* 4_000_037) }
        #expect(Set(made.fronts.values).count <= 16)
        for range in [1001...1020, 1021...1040] as [ClosedRange<UInt64>] {
            let fronts = Set(range.compactMap { made.fronts[$0] })
            #expect(fronts.count == 1)
            #expect(fronts.first?.contains { range.contains($0.publicKey.words.0) } ?? false)
        }
        // A pass over the viewers for each rate would cost some hundred times as much.
        #expect(made.seconds < 10 * honest.seconds, "\(made.seconds) s, not \(honest.seconds) s")
    }
}
