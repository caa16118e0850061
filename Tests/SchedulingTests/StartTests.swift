import CoreModel
import Scheduling
import Testing

/// What starts playback takes no detour.
@Suite struct StartTests {
    private let start = MonotonicInstant.origin.advanced(by: .seconds(1))
    private let segments = (0..<10).map {
        SegmentDescription(start: .seconds(4 * $0), duration: .seconds(4), estimatedByteCount: 100_000)
    }

    private func fetched(_ scheduler: inout Scheduler, now: MonotonicInstant) -> [SegmentID] {
        var fetched: [SegmentID] = []
        while true {
            switch scheduler.poll(now: now) {
            case .fetch(_, let segment, _, _): fetched.append(segment)
            case .wait: return fetched
            default: continue
            }
        }
    }

    @Test func theFirstSegmentIsFetchedWhenTheTimelineIsKnown() {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        scheduler.handle(.swarm(.off), now: start)
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: start)
        #expect(fetched(&scheduler, now: start).isEmpty)
        // At once, although a pass has just been made.
        let soon = start.advanced(by: .microseconds(10))
        scheduler.handle(.segments(track: 0, segments), now: soon)
        #expect(fetched(&scheduler, now: soon).first == SegmentID(track: 0, index: 0))
    }

    @Test func aSeekIsServedAtOnce() {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        scheduler.handle(.swarm(.off), now: start)
        scheduler.handle(.segments(track: 0, segments), now: start)
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: start)
        #expect(!fetched(&scheduler, now: start).isEmpty)
        let soon = start.advanced(by: .microseconds(10))
        scheduler.handle(.seek(position: .seconds(21)), now: soon)
        #expect(fetched(&scheduler, now: soon).contains(SegmentID(track: 0, index: 5)))
    }

    @Test func inputsCloseTogetherShareAPass() {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        scheduler.handle(.swarm(.off), now: start)
        scheduler.handle(.segments(track: 0, segments), now: start)
        #expect(!fetched(&scheduler, now: start).isEmpty)
        let soon = start.advanced(by: .microseconds(10))
        scheduler.handle(.playback(position: .seconds(21), isPlaying: false), now: soon)
        #expect(fetched(&scheduler, now: soon).isEmpty)
        let later = start.advanced(by: scheduler.configuration.passInterval)
        #expect(fetched(&scheduler, now: later).contains(SegmentID(track: 0, index: 5)))
    }

    // MARK: - In a swarm

    /// Segments of 2.5 MB that play while they come in.
    private let large = (0..<10).map {
        SegmentDescription(
            start: .seconds(4 * $0), duration: .seconds(4), estimatedByteCount: 2_500_000, playsProgressively: true)
    }
    private let peer = PeerKey(rawValue: 7)

    private struct Fetch: Equatable {
        var id: TransferID
        var segment: SegmentID
        var chunks: Range<Int>?
        var reason: Reason
    }

    private func fetches(_ scheduler: inout Scheduler, now: MonotonicInstant) -> [Fetch] {
        var fetches: [Fetch] = []
        while true {
            switch scheduler.poll(now: now) {
            case .fetch(let id, let segment, let chunks, let reason):
                fetches.append(Fetch(id: id, segment: segment, chunks: chunks, reason: reason))
            case .wait: return fetches
            default: continue
            }
        }
    }

    /// A viewer in a swarm of two that starts in the middle of the first segment, and is the front.
    private func viewerInTheFront() -> Scheduler {
        var configuration = SchedulerConfiguration()
        configuration.member = MemberID(rawValue: 1)
        var scheduler = Scheduler(configuration: configuration)
        scheduler.handle(.swarm(.joined(size: 2)), now: start)
        scheduler.handle(.peerJoined(peer, member: MemberID(rawValue: 2), uploads: true), now: start)
        scheduler.handle(.front(Front(members: [MemberID(rawValue: 1)])), now: start)
        scheduler.handle(.segments(track: 0, large), now: start)
        for index in 0..<3 {
            let id = SegmentID(track: 0, index: index)
            scheduler.handle(.record(id, key: 0, byteCount: 2_500_000, draw: 0.5), now: start)
        }
        scheduler.handle(.playback(position: .seconds(2), isPlaying: false), now: start)
        return scheduler
    }

    @Test func whoStartsWithinASegmentAsksForAllThatStartingTakesAtOnce() throws {
        var scheduler = viewerInTheFront()
        let first = try #require(fetches(&scheduler, now: start).first)
        #expect(first.segment == SegmentID(track: 0, index: 0))
        #expect(first.reason == .startup)
        // Half of the bytes lie before the playhead; 153 chunks are all.
        let chunks = try #require(first.chunks)
        #expect(chunks.lowerBound == 0)
        #expect((90..<145).contains(chunks.upperBound))
    }

    @Test func nothingIsFetchedForOthersBeforePlaybackBegins() throws {
        var scheduler = viewerInTheFront()
        let first = try #require(fetches(&scheduler, now: start).first)
        let soon = start.advanced(by: .milliseconds(500))
        scheduler.handle(.cdnResponded(first.id, after: .milliseconds(500)), now: soon)
        scheduler.handle(.timer, now: soon)
        #expect(fetches(&scheduler, now: soon).allSatisfy { $0.reason == .startup })
        let later = start.advanced(by: .seconds(1))
        scheduler.handle(.cdnReceived(first.id, byteCount: 2_500_000), now: later)
        scheduler.handle(.completed(first.segment), now: later)
        scheduler.handle(.cdnFinished(first.id), now: later)
        scheduler.handle(.playback(position: .seconds(2), isPlaying: true), now: later)
        #expect(fetches(&scheduler, now: later).contains { $0.reason == .front })
    }

    @Test func whatSeveralPeersHaveTogetherIsNotFetchedForThem() throws {
        var scheduler = viewerInTheFront()
        scheduler.handle(
            .peerJoined(PeerKey(rawValue: 8), member: MemberID(rawValue: 3), uploads: true), now: start)
        let second = SegmentID(track: 0, index: 1)
        let parts = [0..<80, 80..<153]
        for (part, key) in zip(parts, [peer, PeerKey(rawValue: 8)]) {
            scheduler.handle(
                .peerHolds(key, second, Holding(verified: ChunkSet(part), expected: ChunkSet())), now: start)
        }
        let first = try #require(fetches(&scheduler, now: start).first)
        let later = start.advanced(by: .seconds(1))
        scheduler.handle(.cdnReceived(first.id, byteCount: 2_500_000), now: later)
        scheduler.handle(.completed(first.segment), now: later)
        scheduler.handle(.cdnFinished(first.id), now: later)
        scheduler.handle(.playback(position: .seconds(2), isPlaying: true), now: later)
        let shares = fetches(&scheduler, now: later).filter { $0.reason == .front }.map(\.segment)
        #expect(shares == [SegmentID(track: 0, index: 2)])
    }
}
