import CoreModel
import Scheduling
import Testing

/// Another rendition of a segment: everything of the former one is void.
@Suite struct RenditionTests {
    private static let segment = SegmentID(track: 0, index: 0)
    private static let now = MonotonicInstant.origin.advanced(by: .seconds(1))

    private static func description(_ chunkCount: Int) -> SegmentDescription {
        SegmentDescription(
            start: .zero, duration: .seconds(4), estimatedByteCount: chunkCount * SegmentGeometry.chunkByteCount)
    }

    private func outputs(_ scheduler: inout Scheduler, _ now: MonotonicInstant) -> [SchedulerOutput] {
        var outputs: [SchedulerOutput] = []
        while true {
            let output = scheduler.poll(now: now)
            if case .wait = output { return outputs }
            outputs.append(output)
        }
    }

    @Test func theTransferIsTakenBackAndTheOtherRenditionFetched() throws {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        scheduler.handle(.swarm(.off), now: Self.now)
        scheduler.handle(.segments(track: 0, [Self.description(64)]), now: Self.now)
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: Self.now)
        #expect(
            outputs(&scheduler, Self.now) == [
                .fetch(TransferID(rawValue: 1), Self.segment, chunks: nil, .alone)
            ])
        scheduler.handle(.size(Self.segment, byteCount: 64 * SegmentGeometry.chunkByteCount), now: Self.now)
        scheduler.handle(.cdnArrived(TransferID(rawValue: 1), chunks: 0..<40), now: Self.now)
        scheduler.handle(.rendition(Self.segment, Self.description(8)), now: Self.now)
        #expect(
            outputs(&scheduler, Self.now) == [
                .cancelFetch(TransferID(rawValue: 1), .switched),
                .fetch(TransferID(rawValue: 2), Self.segment, chunks: nil, .alone),
            ])
        // What still comes of the former one is nothing of this one's.
        scheduler.handle(.cdnArrived(TransferID(rawValue: 1), chunks: 0..<8), now: Self.now)
        scheduler.handle(.size(Self.segment, byteCount: 8 * SegmentGeometry.chunkByteCount), now: Self.now)
        scheduler.handle(.cdnArrived(TransferID(rawValue: 2), chunks: 0..<8), now: Self.now)
        scheduler.handle(.cdnFinished(TransferID(rawValue: 2)), now: Self.now)
        #expect(outputs(&scheduler, Self.now).isEmpty)
    }

    @Test func peersAreAskedNoMoreAndWhatTheyHoldIsForgotten() {
        var configuration = SchedulerConfiguration()
        configuration.member = MemberID(rawValue: 1)
        var scheduler = Scheduler(configuration: configuration)
        let peer = PeerKey(rawValue: 1)
        // Twenty seconds before its playback nothing is urgent.
        let far = SegmentDescription(
            start: .seconds(20), duration: .seconds(4), estimatedByteCount: 16 * SegmentGeometry.chunkByteCount)
        for input in [
            SchedulerInput.segments(track: 0, [far]),
            .record(Self.segment, key: 7, byteCount: 16 * SegmentGeometry.chunkByteCount, draw: 0.9),
            .swarm(.joined(size: 2)), .peerJoined(peer, member: MemberID(rawValue: 2), uploads: true),
            .peerHolds(peer, Self.segment, Holding(verified: ChunkSet(0..<16))),
            .playback(position: .zero, isPlaying: true),
        ] {
            scheduler.handle(input, now: Self.now)
        }
        let later = Self.now.advanced(by: .seconds(1))
        scheduler.handle(.timer, now: later)
        var requests: [RequestID] = []
        for case .request(let id, peer, Self.segment, _, _, _) in outputs(&scheduler, later) { requests.append(id) }
        #expect(!requests.isEmpty)
        scheduler.handle(.rendition(Self.segment, far), now: later)
        let after = outputs(&scheduler, later)
        #expect(after.prefix(requests.count) == requests.map { .cancelRequest($0, peer, .switched) }[...])
        // It has no record yet, and nobody is known to hold it.
        #expect(after.count == requests.count)
    }
}
