import CoreModel
import SwarmProtocol
import Testing

@Suite struct GossipTests {
    @Test func aLinkIsToldWhatChangedSinceItWasToldLast() {
        var announcer = HoldingAnnouncer()
        var told: UInt32 = 0
        func next() -> [HaveEntry] {
            let frames = announcer.entries(since: told)
            told = announcer.version
            return frames.flatMap { $0 }
        }
        #expect(next().isEmpty)
        announcer.update(root: root(1), verified: ChunkSet(0..<2), expected: ChunkSet(0..<8), isComplete: false)
        #expect(announcer.isNew(root(1)))
        #expect(next() == [HaveEntry(root: root(1), change: .replace(verified: [0..<2], expected: [2..<8]))])
        // The same again is no change.
        announcer.update(root: root(1), verified: ChunkSet(0..<2), expected: ChunkSet(2..<8), isComplete: false)
        #expect(next().isEmpty)
        announcer.update(root: root(1), verified: ChunkSet(0..<4), expected: ChunkSet(4..<9), isComplete: false)
        #expect(!announcer.isNew(root(1)))
        announcer.update(root: root(2), verified: ChunkSet(0..<1), expected: ChunkSet(), isComplete: false)
        announcer.update(root: root(1), verified: ChunkSet(0..<9), expected: ChunkSet(), isComplete: true)
        #expect(
            next() == [
                HaveEntry(root: root(2), change: .replace(verified: [0..<1], expected: [])),
                HaveEntry(root: root(1), change: .complete),
            ])
        // A new link is told of all that is held.
        #expect(announcer.entries(since: 0).flatMap { $0 }.map(\.root) == [root(2), root(1)])
        announcer.remove(root: root(1))
        #expect(next() == [HaveEntry(root: root(1), change: .lost)])
        #expect(announcer.entries(since: 0).flatMap { $0 }.map(\.root) == [root(2)])
        // What came and went between two frames is not spoken of.
        announcer.update(root: root(3), verified: ChunkSet(0..<1), expected: ChunkSet(), isComplete: false)
        announcer.remove(root: root(3))
        #expect(next().isEmpty)
    }

    @Test func whatWasLostIsForgottenWhenEverybodyKnows() {
        var announcer = HoldingAnnouncer()
        announcer.update(root: root(1), verified: ChunkSet(0..<2), expected: ChunkSet(), isComplete: false)
        let before = announcer.version
        announcer.remove(root: root(1))
        announcer.forgetLost(upTo: before)
        #expect(announcer.entries(since: before) == [[HaveEntry(root: root(1), change: .lost)]])
        announcer.forgetLost(upTo: announcer.version)
        #expect(announcer.entries(since: before).isEmpty)
    }

    @Test func receiversOfTheFramesKnowTheStateHoweverOftenTheyAreTold() {
        var generator = SeededGenerator(seed: 3)
        var announcer = HoldingAnnouncer()
        var truth: [Digest: (verified: ChunkSet, expected: ChunkSet)] = [:]
        var links: [(told: UInt32, state: [Digest: (verified: ChunkSet, expected: ChunkSet)])] = [
            (0, [:]), (0, [:]), (0, [:]),
        ]
        for step in 1...3000 {
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
            for link in links.indices where step % [1, 7, 40][link] == 0 {
                for entry in announcer.entries(since: links[link].told).joined() {
                    Self.apply(entry, to: &links[link].state)
                }
                links[link].told = announcer.version
                for (name, state) in truth {
                    #expect(links[link].state[name]?.verified ?? ChunkSet() == state.verified)
                    #expect(links[link].state[name]?.expected ?? ChunkSet() == state.expected)
                }
            }
            if step % 10 == 0 { announcer.forgetLost(upTo: links.map(\.told).min() ?? 0) }
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
        let frames = announcer.entries(since: 0)
        #expect(frames.reduce(0) { $0 + $1.count } == 200)
        for entries in frames {
            #expect(Frame.have(entries).encoded.count < 9000)
            var reader = WireReader(Frame.have(entries).encoded)
            #expect(try Frame(reading: &reader) == .have(entries))
        }
    }

    @Test func aSeenSetForgetsTheOldest() {
        var seen = SeenSet(limit: 3)
        let answers = [1, 2, 3, 1, 4, 1, 2, 4].map { seen.insert(root($0)) }
        #expect(answers == [true, true, true, false, true, true, true, false])
    }
}

extension HoldingAnnouncer {
    /// What its frames say.
    fileprivate func entries(since version: UInt32) -> [[HaveEntry]] {
        frames(since: version).map { bytes in
            var reader = WireReader(bytes)
            guard case .have(let entries) = try? Frame(reading: &reader), reader.remaining == 0 else { return [] }
            // The same entries in a frame are the same bytes.
            #expect(Frame.have(entries).encoded == bytes)
            return entries
        }
    }
}
