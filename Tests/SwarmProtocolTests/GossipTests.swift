import CoreModel
import SwarmProtocol
import Testing

@Suite struct GossipTests {
    static let start = MonotonicInstant.origin.advanced(by: .seconds(5000))

    @Test func theFirstChangeGoesAtOnceAndTheRestTwiceASecond() {
        var announcer = HoldingAnnouncer()
        var frames = 0
        for step in 0..<1000 {
            let now = Self.start.advanced(by: .milliseconds(10 * step))
            announcer.update(root: root(1), verified: ChunkSet(0..<step + 1), expected: ChunkSet(), isComplete: false)
            let entries = announcer.poll(now: now)
            if step == 0 { #expect(entries.count == 1) }
            if !entries.isEmpty { frames += 1 }
        }
        #expect(frames == 20)
    }

    @Test func entriesSayWhatChanged() {
        var announcer = HoldingAnnouncer()
        var now = Self.start
        func next() -> [HaveEntry] {
            now = now.advanced(by: .seconds(1))
            return announcer.poll(now: now)
        }
        announcer.update(root: root(1), verified: ChunkSet(0..<2), expected: ChunkSet(0..<8), isComplete: false)
        #expect(next() == [HaveEntry(root: root(1), change: .replace(verified: [0..<2], expected: [2..<8]))])
        announcer.update(root: root(1), verified: ChunkSet(0..<4), expected: ChunkSet(4..<9), isComplete: false)
        #expect(next() == [HaveEntry(root: root(1), change: .add(verified: [2..<4], expected: [8..<9]))])
        announcer.update(root: root(1), verified: ChunkSet(0..<4), expected: ChunkSet(4..<6), isComplete: false)
        #expect(next() == [HaveEntry(root: root(1), change: .replace(verified: [0..<4], expected: [4..<6]))])
        announcer.update(root: root(1), verified: ChunkSet(0..<9), expected: ChunkSet(), isComplete: true)
        #expect(next() == [HaveEntry(root: root(1), change: .complete)])
        #expect(announcer.snapshot == [[HaveEntry(root: root(1), change: .complete)]])
        announcer.remove(root: root(1))
        #expect(next() == [HaveEntry(root: root(1), change: .lost)])
        #expect(announcer.snapshot.isEmpty)
        // What came and went between two frames is not spoken of.
        announcer.update(root: root(2), verified: ChunkSet(0..<1), expected: ChunkSet(), isComplete: false)
        announcer.remove(root: root(2))
        #expect(next().isEmpty)
        #expect(announcer.nextDeadline == nil)
    }

    @Test func aReceiverOfTheFramesKnowsTheState() {
        var generator = SeededGenerator(seed: 3)
        var announcer = HoldingAnnouncer()
        var truth: [Digest: (verified: ChunkSet, expected: ChunkSet)] = [:]
        var told: [Digest: (verified: ChunkSet, expected: ChunkSet)] = [:]
        var now = Self.start
        for _ in 0..<3000 {
            let name = root(UInt8.random(in: 1...4, using: &generator))
            var state = truth[name] ?? (ChunkSet(), ChunkSet())
            let chunk = Int.random(in: 0..<100, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: state = (ChunkSet(), ChunkSet())
            case 1: state.expected = ChunkSet()
            case 2...5: state.expected.insert(chunk)
            default: state.verified.insert(chunk)
            }
            state.expected.subtract(state.verified)
            truth[name] = state
            announcer.update(root: name, verified: state.verified, expected: state.expected, isComplete: false)
            now = now.advanced(by: .milliseconds(100))
            let entries = announcer.poll(now: now)
            guard !entries.isEmpty else { continue }
            #expect(entries.count <= 4)
            for entry in entries { Self.apply(entry, to: &told) }
            guard announcer.nextDeadline == nil else { continue }
            for (name, state) in truth where state.verified.ranges.count <= 64 && state.expected.ranges.count <= 64 {
                #expect(told[name]?.verified ?? ChunkSet() == state.verified)
                #expect(told[name]?.expected ?? ChunkSet() == state.expected)
            }
        }
    }

    private static func apply(_ entry: HaveEntry, to told: inout [Digest: (verified: ChunkSet, expected: ChunkSet)]) {
        var state = told[entry.root] ?? (ChunkSet(), ChunkSet())
        switch entry.change {
        case .lost: state = (ChunkSet(), ChunkSet())
        case .complete: state = (ChunkSet(0..<100), ChunkSet())
        case .replace(let verified, let expected):
            state = (ChunkSet(), ChunkSet())
            for run in verified { state.verified.insert(run) }
            for run in expected { state.expected.insert(run) }
        case .add(let verified, let expected):
            for run in verified { state.verified.insert(run) }
            for run in expected { state.expected.insert(run) }
        }
        state.expected.subtract(state.verified)
        told[entry.root] = state
    }

    @Test func aFullStoreIsAnnouncedInFramesThatFit() throws {
        var announcer = HoldingAnnouncer()
        var scattered = ChunkSet()
        for chunk in stride(from: 0, to: 4096, by: 2) { scattered.insert(chunk) }
        for number in 0..<200 {
            announcer.update(root: root(UInt8(number)), verified: scattered, expected: ChunkSet(), isComplete: false)
        }
        var now = Self.start
        var count = 0
        while announcer.nextDeadline != nil {
            now = now.advanced(by: .milliseconds(500))
            let entries = announcer.poll(now: now)
            count += entries.count
            var reader = WireReader(Frame.have(entries).encoded)
            #expect(try Frame(reading: &reader) == .have(entries))
        }
        #expect(count == 200)
        let snapshot = announcer.snapshot
        #expect(snapshot.reduce(0) { $0 + $1.count } == 200)
        for entries in snapshot { #expect(Frame.have(entries).encoded.count < 9000) }
    }

    @Test func aSeenSetForgetsTheOldest() {
        var seen = SeenSet(limit: 3)
        let answers = [1, 2, 3, 1, 4, 1, 2, 4].map { seen.insert(root($0)) }
        #expect(answers == [true, true, true, false, true, true, true, false])
    }
}
