import CoreModel
import Scheduling
import Testing

/// Between two words from the player its clock is assumed to run, but never past the media that is there.
@Suite struct PlayheadTests {
    private let start = MonotonicInstant.origin.advanced(by: .seconds(1))

    private func cancelled(_ scheduler: inout Scheduler, now: MonotonicInstant) -> Bool {
        while true {
            switch scheduler.poll(now: now) {
            case .cancelFetch: return true
            case .wait: return false
            default: continue
            }
        }
    }

    /// A viewer whose thread gets no time for a while must not throw away what is under way.
    @Test(arguments: [0, 2]) func aPlayerThatIsNotHeardOfKeepsItsTransfers(chunksThere: Int) {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        let first = SegmentID(track: 0, index: 0)
        let byteCount = 8 * SegmentGeometry.chunkByteCount
        scheduler.handle(.swarm(.off), now: start)
        scheduler.handle(
            .segments(
                track: 0,
                (0..<10).map {
                    SegmentDescription(start: .seconds($0), duration: .seconds(1), estimatedByteCount: byteCount)
                }), now: start)
        scheduler.handle(.playback(position: .zero, isPlaying: true), now: start)
        var transfer: TransferID?
        poll: while true {
            switch scheduler.poll(now: start) {
            case .fetch(let id, first, _, _): transfer = id
            case .wait: break poll
            default: continue
            }
        }
        guard let transfer else {
            Issue.record("the first segment was not fetched")
            return
        }
        scheduler.handle(.size(first, byteCount: byteCount), now: start)
        scheduler.handle(
            .cdnReceived(transfer, byteCount: chunksThere * SegmentGeometry.chunkByteCount), now: start)
        if chunksThere > 0 { scheduler.handle(.cdnArrived(transfer, chunks: 0..<chunksThere), now: start) }
        let late = start.advanced(by: .seconds(5))
        scheduler.handle(.timer, now: late)
        #expect(!cancelled(&scheduler, now: late))
        // Once the player says that it has gone on, the transfer is of no use.
        scheduler.handle(.playback(position: .seconds(5), isPlaying: true), now: late)
        scheduler.handle(.timer, now: late.advanced(by: .seconds(1)))
        #expect(cancelled(&scheduler, now: late.advanced(by: .seconds(1))))
    }
}
