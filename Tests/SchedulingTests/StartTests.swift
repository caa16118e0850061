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
}
