import CoreModel
import SwarmProtocol
import Testing

@Suite struct LinkTransferTests {
    @Test(arguments: [1, 1000, 65_536], [NoisePattern.ik, .xx])
    func requestedChunksArriveInOrderWithTheirLeavesFirst(portion: Int, pattern: NoisePattern) {
        var pair = LinkPair.established(pattern)
        pair.largestPortion = portion
        pair.responder.source.insert(root(1), chunks: 0..<20)
        pair.ask(1, root(1), 4..<20, wantsLeaves: true)
        pair.run(for: .seconds(1))
        #expect(pair.initiator.chunks == Array(4..<20))
        let kinds = pair.initiator.events.map { event in
            switch event {
            case .leaves(_, let stripe, _): "leaves \(stripe)"
            case .chunk(_, _, let chunk, let payload):
                payload.allSatisfy { $0 == UInt8(chunk) } && payload.count == 16_384 ? "chunk" : "bad chunk"
            default: "\(event)"
            }
        }
        #expect(
            kinds == ["leaves 0"] + Array(repeating: "chunk", count: 4) + ["leaves 1"]
                + Array(repeating: "chunk", count: 8) + ["leaves 2"] + Array(repeating: "chunk", count: 4))
        #expect(pair.initiator.link.outstandingChunkCount == 0)
        #expect(pair.initiator.link.statistics.receivedPayloadByteCount == 16 * 16_384)
        #expect(pair.responder.link.statistics.sentPayloadByteCount == 16 * 16_384)
        #expect(pair.responder.link.statistics.sentByteCount == pair.initiator.link.statistics.receivedByteCount)
    }

    @Test func requestsForTheSameStripeGetTheirLeavesEach() {
        var pair = LinkPair.established()
        pair.responder.source.expected[root(1)] = Set(0..<8)
        pair.ask(1, root(1), 0..<4, timeLeft: .seconds(9), wantsLeaves: true)
        pair.ask(2, root(1), 4..<6, timeLeft: .seconds(3), wantsLeaves: true)
        pair.ask(3, root(1), 6..<8, timeLeft: .seconds(6), wantsLeaves: true)
        pair.run(for: .milliseconds(100))
        pair.responder.source.insert(root(1), chunks: 0..<8)
        pair.responder.link.chunksAvailable(root: root(1), chunks: 0..<8)
        pair.run(for: .seconds(1))
        #expect(pair.initiator.end == nil && pair.responder.end == nil)
        #expect(pair.initiator.chunks == [4, 5, 6, 7, 0, 1, 2, 3], "the most urgent goes first")
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    /// Honest sides that ask, cancel and lose time in any order never end a link over it.
    @Test(arguments: 0..<UInt64(20)) func noOrderOfRequestsEndsTheLink(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pair = LinkPair.established(seed: seed + 1)
        pair.responder.source.expected[root(1)] = Set(0..<64)
        var asked = Set<Int>()
        for number in UInt32(1)...60 {
            let first = Int.random(in: 0..<64, using: &generator)
            let chunks = first..<min(64, first + Int.random(in: 1...12, using: &generator))
            let isNew = asked.isDisjoint(with: chunks)
            if isNew,
                pair.ask(
                    number, root(1), chunks, timeLeft: .milliseconds(Int.random(in: 50...4000, using: &generator)),
                    wantsLeaves: Bool.random(using: &generator))
            {
                asked.formUnion(chunks)
            }
            if Int.random(in: 0..<6, using: &generator) == 0 {
                pair.initiator.link.cancel(ChunkRequestID(rawValue: number), now: pair.now)
            }
            let ready = Int.random(in: 0..<60, using: &generator)
            pair.responder.source.insert(root(1), chunks: ready..<ready + 4)
            pair.responder.link.chunksAvailable(root: root(1), chunks: ready..<ready + 4)
            // The transport takes a chunk now and then.
            pair.responder.writable = Int.random(in: 0..<3, using: &generator) == 0 ? .max : 0
            pair.run(for: .milliseconds(Int.random(in: 1...120, using: &generator)))
        }
        pair.responder.writable = .max
        pair.run(for: .seconds(5))
        #expect(pair.initiator.end == nil && pair.responder.end == nil)
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    @Test func aStandingRequestIsAnsweredAsItsChunksVerify() {
        var pair = LinkPair.established()
        pair.responder.source.expected[root(1)] = [0, 1, 2]
        pair.ask(1, root(1), 0..<4)
        pair.run(for: .milliseconds(100))
        // Chunk 3 is neither there nor expected, so it ends at once.
        #expect(pair.initiator.rejects.map(\.0) == [3..<4])
        #expect(pair.initiator.rejects.map(\.1) == [.absent])
        let lookUps = pair.responder.source.lookUps
        pair.run(for: .seconds(1))
        #expect(pair.responder.source.lookUps == lookUps, "a standing request is not polled for")
        pair.responder.source.insert(root(1), chunks: 1..<2)
        pair.responder.link.chunksAvailable(root: root(1), chunks: 1..<2)
        pair.run(for: .milliseconds(25))
        #expect(pair.initiator.chunks == [1])
        pair.responder.source.insert(root(1), chunks: 0..<1)
        pair.responder.source.expected[root(1)] = []
        pair.responder.link.chunksAvailable(root: root(1), chunks: 0..<3)
        pair.run(for: .milliseconds(25))
        #expect(pair.initiator.chunks == [1, 0])
        #expect(pair.initiator.rejects.map(\.0) == [3..<4, 2..<3])
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    @Test func theServingSideRejectsWhatIsLate() {
        var pair = LinkPair.established()
        pair.responder.source.expected[root(1)] = Set(0..<8)
        pair.ask(1, root(1), 0..<8, timeLeft: .milliseconds(300))
        pair.run(for: .milliseconds(310))
        // The asking side's own clock ends the request first; the reject that comes after is no news.
        #expect(pair.initiator.timeouts == [[0..<8]])
        pair.run(for: .seconds(20))
        #expect(pair.initiator.rejects.isEmpty)
        #expect(pair.initiator.link.outstandingChunkCount == 0)
        #expect(pair.initiator.link.isEstablished)
    }

    @Test func aCancelledRequestEndsToo() {
        var pair = LinkPair.established()
        pair.responder.writable = 0
        pair.responder.source.insert(root(1), chunks: 0..<64)
        pair.ask(1, root(1), 0..<64)
        pair.run(for: .milliseconds(30))
        #expect(pair.responder.link.readyChunkCount == 64)
        pair.initiator.link.cancel(ChunkRequestID(rawValue: 1), now: pair.now)
        #expect(pair.initiator.link.outstandingChunkCount == 64)
        pair.run(for: .milliseconds(100))
        #expect(pair.initiator.link.outstandingChunkCount == 0)
        #expect(pair.initiator.events.isEmpty)
        #expect(pair.responder.link.readyChunkCount == 0)
        #expect(pair.initiator.link.isEstablished && pair.responder.link.isEstablished)
    }

    @Test func controlGoesBeforeDataAndOneDataFrameAtATime() {
        var pair = LinkPair.established()
        pair.responder.source.insert(root(1), chunks: 0..<10)
        pair.responder.writable = 0
        pair.ask(1, root(1), 0..<10)
        pair.run(for: .milliseconds(30))
        pair.responder.transmissions = []
        pair.responder.link.send(.have([HaveEntry(root: root(2), change: .complete)]))
        let first = pair.responder.link.poll(now: pair.now, writable: 1, source: pair.responder.source)
        guard case .transmit(let control) = first else { return #expect(Bool(false), "\(first)") }
        #expect(control.count < 100)
        let second = pair.responder.link.poll(now: pair.now, writable: 1, source: pair.responder.source)
        guard case .transmit(let data) = second else { return #expect(Bool(false), "\(second)") }
        #expect(data.count == 16_384 + WireLimits.dataOverhead)
        let third = pair.responder.link.poll(now: pair.now, writable: 0, source: pair.responder.source)
        guard case .wait = third else { return #expect(Bool(false), "\(third)") }
    }

    @Test func theEarlierDeadlineIsServedFirst() {
        var pair = LinkPair.established()
        pair.responder.writable = 0
        pair.responder.source.insert(root(1), chunks: 0..<4)
        pair.responder.source.insert(root(2), chunks: 0..<4)
        pair.ask(1, root(1), 0..<4, timeLeft: .seconds(20))
        pair.ask(2, root(2), 0..<4, timeLeft: .seconds(2))
        pair.run(for: .milliseconds(30))
        pair.responder.writable = .max
        pair.run(for: .milliseconds(100))
        let roots = pair.initiator.events.compactMap { event -> Digest? in
            if case .chunk(_, let root, _, _) = event { root } else { nil }
        }
        #expect(roots == Array(repeating: root(2), count: 4) + Array(repeating: root(1), count: 4))
    }

    @Test func requestsDuringAChokeAreRejectedAndQueuedOnesServed() {
        var pair = LinkPair.established()
        pair.responder.source.insert(root(1), chunks: 0..<4)
        pair.responder.writable = 0
        pair.ask(1, root(1), 0..<2)
        pair.run(for: .milliseconds(30))
        pair.responder.link.choke(for: .seconds(3), now: pair.now)
        pair.run(for: .milliseconds(30))
        #expect(pair.initiator.link.isChoked)
        pair.ask(2, root(1), 2..<4)
        pair.run(for: .milliseconds(50))
        #expect(pair.initiator.rejects.map(\.1) == [.choked])
        pair.responder.writable = .max
        pair.responder.link.unchoke()
        pair.run(for: .milliseconds(50))
        #expect(pair.initiator.chunks == [0, 1])
        #expect(!pair.initiator.link.isChoked)
    }

    @Test func aViewerThatDoesNotUploadSaysSo() {
        let freeRider = LinkPair.identity(22, certificate: LinkPair.certificates.responder, uploads: false)
        var pair = LinkPair(pattern: .ik, responderIdentity: freeRider)
        pair.run(for: .milliseconds(200))
        pair.ask(1, root(1), 0..<4)
        pair.run(for: .milliseconds(100))
        #expect(pair.initiator.rejects.map(\.1) == [.capped])
    }

    @Test func requestsBeyondTheQueueAreNotSent() {
        var pair = LinkPair.established()
        pair.responder.writable = 0
        pair.responder.source.insert(root(1), chunks: 0..<512)
        for number in 0..<4 {
            pair.ask(UInt32(number), root(1), number * 64..<number * 64 + 64, timeLeft: .seconds(50))
        }
        let isSent = pair.ask(9, root(1), 300..<301)
        #expect(!isSent)
        pair.run(for: .milliseconds(100))
        #expect(pair.initiator.events.isEmpty)
    }

    @Test func theUploadCapEndsWhatIsQueued() {
        var pair = LinkPair.established()
        pair.responder.writable = 0
        pair.responder.source.insert(root(1), chunks: 0..<8)
        pair.ask(1, root(1), 0..<8)
        pair.run(for: .milliseconds(30))
        pair.responder.link.rejectQueued(.capped, retryAfter: .seconds(60))
        pair.run(for: .milliseconds(30))
        #expect(pair.initiator.rejects.map(\.0) == [0..<8])
        #expect(pair.initiator.link.outstandingChunkCount == 0)
    }

    @Test func anEvictedChunkEndsInAReject() {
        var pair = LinkPair.established()
        pair.responder.writable = 0
        pair.responder.source.insert(root(1), chunks: 0..<3)
        pair.ask(1, root(1), 0..<3)
        pair.run(for: .milliseconds(30))
        pair.responder.source.chunks[root(1)]?[1] = nil
        pair.responder.writable = .max
        pair.run(for: .milliseconds(30))
        #expect(pair.initiator.chunks == [0, 2])
        #expect(pair.initiator.rejects.map(\.0) == [1..<2])
    }

    @Test func aPeerThatNeverAnswersIsDropped() {
        var pair = LinkPair.established()
        pair.responder.link.connectionLost()
        pair.ask(1, root(1), 0..<8, timeLeft: .seconds(2))
        pair.run(for: .seconds(11))
        #expect(pair.initiator.timeouts == [[0..<8]])
        #expect(pair.initiator.end == nil)
        pair.run(for: .seconds(2))
        #expect(pair.initiator.end == .local(.unresponsive))
    }

    @Test func recordsAreAnsweredOnceOrTimeOut() {
        var pair = LinkPair.established()
        let name = SegmentName(
            stream: StreamID(Bytes16(high: 1, low: 2)), epoch: 3, rendition: RenditionKey(rawValue: 4),
            position: SegmentPosition(kind: .initialization, section: 5, number: 6, byteOffset: 7, part: 8))
        pair.initiator.link.requestRecord(RecordRequestID(rawValue: 1), of: name, now: pair.now)
        pair.initiator.link.requestRecord(RecordRequestID(rawValue: 2), of: name, now: pair.now)
        pair.run(for: .milliseconds(30))
        let asked = pair.responder.events.compactMap { event -> SegmentName? in
            if case .recordRequested(_, let name) = event { name } else { nil }
        }
        #expect(asked == [name, name])
        pair.responder.link.answerRecord(RecordRequestID(rawValue: 1), with: [1, 2, 3])
        pair.run(for: .seconds(6))
        let answers = pair.initiator.events.map { event in
            if case .record(let id, let bytes) = event { "\(id.rawValue) \(bytes.map(Array.init) ?? [])" } else { "?" }
        }
        #expect(answers == ["1 [1, 2, 3]", "2 []"])
        #expect(pair.initiator.link.isEstablished)
    }

    @Test func anIdleLinkPingsNowAndThenAndMeasuresTheRoundTrip() {
        var pair = LinkPair.established()
        pair.run(for: .seconds(100))
        let roundTrips = pair.initiator.events.compactMap { event -> Duration? in
            if case .roundTrip(let span) = event { span } else { nil }
        }
        #expect(roundTrips == Array(repeating: .milliseconds(40), count: 3))
        #expect(pair.responder.events.isEmpty, "one side pings")
    }

    @Test func silenceEndsALink() {
        var pair = LinkPair.established()
        pair.responder.link.connectionLost()
        pair.run(for: .seconds(89))
        #expect(pair.initiator.end == nil)
        pair.run(for: .seconds(2))
        #expect(pair.initiator.end == .local(.silent))
    }

    @Test func aByeIsTheLastWord() {
        var pair = LinkPair.established()
        pair.initiator.link.close(.leaving)
        pair.run(for: .milliseconds(100))
        #expect(pair.initiator.end == .local(.leaving))
        #expect(pair.responder.end == .remote(.leaving))
        let isSent = pair.initiator.link.send(.unchoke)
        #expect(!isSent)
    }
}
