import CoreModel
import Testing
@testable import SwarmProtocol

/// Chunks that lie on the other side's disk.
@Suite struct StoredChunkTests {
    /// A pair whose responder has 64 chunks of each root on its disk.
    private func pair(roots: [Digest] = [root(1)], writable: Int = .max) -> LinkPair {
        var pair = LinkPair.established()
        for root in roots {
            pair.responder.source.insert(root, chunks: 0..<64)
            pair.responder.source.stored[root] = Set(0..<64)
        }
        pair.responder.writable = writable
        return pair
    }

    /// What was asked for last is there.
    private func load(_ pair: inout LinkPair, _ root: Digest = root(1)) throws {
        let chunks = try #require(pair.responder.source.broughtBack.last)
        pair.responder.source.stored[root]?.subtract(chunks)
        pair.responder.link.chunksAvailable(root: root, chunks: chunks)
        pair.run(for: .milliseconds(100))
    }

    @Test func whatIsAskedForIsBroughtBackAStripeAtATime() throws {
        var pair = pair()
        pair.ask(1, root(1), 13..<14)
        pair.run(for: .milliseconds(100))
        #expect(pair.responder.source.broughtBack == [13..<14])
        try load(&pair)
        pair.ask(2, root(1), 3..<20)
        pair.ask(3, root(1), 40..<44)
        pair.run(for: .milliseconds(100))
        // The one chunk that is in memory already waits with the others.
        for expected in [3..<8, 8..<16, 16..<20, 40..<44] {
            #expect(pair.responder.source.broughtBack.last == expected)
            try load(&pair)
        }
        #expect(pair.responder.source.broughtBack.count == 5)
        #expect(pair.initiator.chunks == [13] + Array(3..<20) + Array(40..<44))
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    @Test func nothingIsBroughtBackForASideThatTakesNothing() {
        var pair = pair(writable: 0)
        for number in UInt32(0)..<4 { pair.ask(number, root(1), Int(number) * 16..<Int(number) * 16 + 16) }
        pair.run(for: .seconds(1))
        #expect(pair.responder.source.broughtBack == [])
        pair.responder.writable = .max
        pair.run(for: .milliseconds(100))
        #expect(pair.responder.source.broughtBack == [0..<8])
    }

    @Test func theOthersGoOnWhenARequestEndsMeanwhile() throws {
        var pair = pair(roots: [root(1), root(2)])
        pair.ask(1, root(1), 0..<16, timeLeft: .seconds(1))
        pair.ask(2, root(2), 0..<4, timeLeft: .seconds(3))
        pair.ask(3, root(2), 8..<12, timeLeft: .seconds(9))
        pair.run(for: .milliseconds(100))
        #expect(pair.responder.source.broughtBack == [0..<8])
        #expect(pair.responder.link.awaits(root: root(1), chunks: 15..<30))
        #expect(!pair.responder.link.awaits(root: root(1), chunks: 16..<30))
        pair.initiator.link.cancel(ChunkRequestID(rawValue: 1), now: pair.now)
        pair.run(for: .milliseconds(100))
        #expect(!pair.responder.link.awaits(root: root(1), chunks: 0..<64))
        #expect(pair.responder.source.broughtBack == [0..<8, 0..<4])
        // The second one's time ends.
        pair.run(for: .seconds(4))
        #expect(pair.responder.source.broughtBack == [0..<8, 0..<4, 8..<12])
        try load(&pair, root(2))
        #expect(pair.initiator.chunks == [8, 9, 10, 11])
        #expect(pair.initiator.end == nil && pair.responder.end == nil)
    }

    @Test func whatCannotBeBroughtBackIsRejected() {
        var pair = pair()
        pair.responder.source.bringsNothingBack = true
        pair.ask(1, root(1), 4..<12)
        pair.run(for: .milliseconds(200))
        #expect(pair.initiator.rejects.map(\.0) == [4..<8, 8..<12])
        #expect(pair.initiator.rejects.allSatisfy { $0.1 == .busy })
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    /// Work that is asked for and then not taken has the price of a flood.
    @Test func cancellingWhatIsBroughtBackEndsTheLinkInTheEnd() {
        var pair = pair()
        for number in UInt32(1)...1000 where pair.responder.end == nil {
            pair.ask(number, root(1), 0..<8)
            pair.run(for: .milliseconds(2))
            pair.initiator.link.cancel(ChunkRequestID(rawValue: number), now: pair.now)
            pair.run(for: .milliseconds(2))
        }
        pair.run(for: .seconds(1))
        #expect(pair.responder.end == .local(.flood))
        #expect(pair.responder.source.broughtBack.count < 700)
    }
}
