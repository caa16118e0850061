import CoreModel
import Scheduling
import Simulator
import Testing

@Suite struct ExplanationTests {
    private let first = SegmentID(track: 0, index: 0)

    /// A log made by hand: what is explained is what the log says, whoever decided it.
    private func log(_ events: [(Double, DecisionEntry.Event)]) -> DecisionLog {
        let start = MonotonicInstant(nanoseconds: 7)
        return DecisionLog(
            configuration: SchedulerConfiguration(), startsAt: start,
            entries: events.map { DecisionEntry(time: start.advanced(by: .clamping(seconds: $0.0)), event: $0.1) })
    }

    private func timeline(_ index: Int = 3) -> [(Double, DecisionEntry.Event)] {
        [
            (
                0,
                .input(
                    .segments(
                        track: 0,
                        (0..<index).map {
                            SegmentDescription(
                                start: .seconds(4 * $0), duration: .seconds(4), estimatedByteCount: 40 * 16_384)
                        }))
            ),
            (0, .input(.record(first, key: 1, byteCount: 40 * 16_384, draw: 0.5))),
            (0, .input(.playback(position: .zero, isPlaying: false))),
        ]
    }

    @Test func aFetchSaysItsReasonAndWhatPeersHeld() {
        let id = SegmentID(track: 0, index: 1)
        var events = timeline()
        for (peer, held) in [ChunkSet(0..<40), ChunkSet(0..<4), ChunkSet()].enumerated() {
            let key = PeerKey(rawValue: peer)
            events.append((1, .input(.peerJoined(key, member: MemberID(rawValue: 1), uploads: true))))
            events.append((1, .input(.peerHolds(key, id, Holding(verified: held)))))
        }
        events.append((1.25, .input(.peerChoked(PeerKey(rawValue: 1), until: .distantFuture))))
        events.append((1.5, .output(.fetch(TransferID(rawValue: 1), id, chunks: 0..<8, .deadline))))
        let sentences = Explanation(log(events)).sentences
        #expect(
            sentences.map(\.description) == [
                "1.50 s: chunks 0 to 7 of segment 0/1 asked of the CDN (deadline: the time left is what the CDN needs); "
                    + "playback stands; needed in 4.00 s; of 3 peers 1 held them all, 1 held a part, 1 of these asked for "
                    + "patience"
            ])
        #expect(sentences.map(\.line) == [events.count + 1])
        #expect(sentences.map(\.subject) == [.fetch(id, .deadline)])
    }

    @Test func aStallSaysWhatWasMissingAndWhoWasAsked() {
        var events = timeline()
        events += [
            (0.1, .output(.fetch(TransferID(rawValue: 1), first, chunks: 0..<16, .startup))),
            (0.5, .input(.cdnArrived(TransferID(rawValue: 1), chunks: 0..<16))),
            (0.5, .input(.cdnFinished(TransferID(rawValue: 1)))),
            (0.6, .input(.playback(position: .zero, isPlaying: true))),
            (
                0.7,
                .output(
                    .request(
                        RequestID(rawValue: 1), PeerKey(rawValue: 0), first, chunks: 16..<24, timeLeft: .seconds(2),
                        .peerHolds))
            ),
            (2.2, .input(.playback(position: .milliseconds(1600), isPlaying: false))),
        ]
        let sentences = Explanation(log(events)).sentences
        #expect(sentences.count == 2)
        #expect(
            sentences.last?.description
                == "2.20 s: playback stopped at 1.60 s in segment 0/0: 16 of 40 chunks were there from its start, 24 were "
                + "missing; nothing of it was asked of the CDN; 8 chunks were asked of peers; there was no peer")
        #expect(sentences.last?.subject == .stall(first))
    }

    @Test func aPauseIsNoStall() {
        var events = timeline()
        events += [
            (0.5, .input(.present(first, ChunkSet(0..<40)))),
            (0.6, .input(.playback(position: .zero, isPlaying: true))),
            (2.2, .input(.playback(position: .milliseconds(1600), isPlaying: false))),
        ]
        #expect(Explanation(log(events)).sentences.isEmpty)
    }

    @Test func everyFetchOfARealLogIsExplained() {
        let writer = LogWriter.started()
        let fetches = writer.entries.count { if case .output(.fetch) = $0.event { true } else { false } }
        let sentences = Explanation(writer.log).sentences
        #expect(sentences.count == fetches && fetches > 0)
    }
}
