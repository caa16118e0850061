import CoreModel
import Scheduling
import Testing

/// Segments that the CDN has lost: peers may save them, as long as they hold all that is missing.
@Suite struct GoneSegmentTests {
    private static let lost = SegmentID(track: 0, index: 0)
    private static let chunkCount = 16

    /// Whether the loss is reported when the CDN answers 404 and one peer has these chunks.
    private func isReported(peerHolding chunks: Range<Int>?) -> Bool {
        var configuration = SchedulerConfiguration()
        configuration.member = MemberID(rawValue: 1)
        var scheduler = Scheduler(configuration: configuration)
        var now = MonotonicInstant.origin.advanced(by: .seconds(1))
        let byteCount = Self.chunkCount * SegmentGeometry.chunkByteCount
        let segment = SegmentDescription(start: .zero, duration: .seconds(4), estimatedByteCount: byteCount)
        scheduler.handle(.segments(track: 0, [segment]), now: now)
        scheduler.handle(.record(Self.lost, key: 7, byteCount: byteCount, draw: 0.5), now: now)
        scheduler.handle(.swarm(.joined(size: 2)), now: now)
        let peer = PeerKey(rawValue: 1)
        scheduler.handle(.peerJoined(peer, member: MemberID(rawValue: 2), uploads: true), now: now)
        if let chunks {
            scheduler.handle(.peerHolds(peer, Self.lost, Holding(verified: ChunkSet(chunks))), now: now)
        }
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: now)
        // For as long as a peer that says nothing is not yet called stalled.
        let end = now.advanced(by: configuration.peerStall)
        while now < end {
            var failed: [TransferID] = []
            poll: while true {
                switch scheduler.poll(now: now) {
                case .fetch(let id, _, _, _): failed.append(id)
                case .unreachable(let id): return id == Self.lost
                case .wait: break poll
                default: continue
                }
            }
            for id in failed { scheduler.handle(.cdnFailed(id, isFinal: true), now: now) }
            now = now.advanced(by: .milliseconds(100))
            scheduler.handle(.timer, now: now)
        }
        return false
    }

    @Test func withoutPeersTheLossIsReported() { #expect(isReported(peerHolding: nil)) }

    @Test func aPeerWithAPartOfItDoesNotHideTheLoss() { #expect(isReported(peerHolding: 0..<8)) }

    @Test func aPeerWithAllOfItIsWaitedFor() { #expect(!isReported(peerHolding: 0..<16)) }

    /// Lets the CDN fail at every attempt and then recover.
    ///
    /// - Returns: Whether the viewer asked again within 2.5 s of the recovery, and whether it gave the segment up.
    private func isHad(afterOutageOf outage: Duration) -> (isHad: Bool, isGivenUp: Bool) {
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        var now = MonotonicInstant.origin.advanced(by: .seconds(1))
        let segment = SegmentDescription(start: .zero, duration: .seconds(4), estimatedByteCount: 1_000_000)
        scheduler.handle(.segments(track: 0, [segment]), now: now)
        scheduler.handle(.noRecord(Self.lost), now: now)
        scheduler.handle(.swarm(.off), now: now)
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: now)
        let recovery = now.advanced(by: outage)
        var isGivenUp = false
        while now < recovery.advanced(by: .milliseconds(2_500)) {
            var failed: [TransferID] = []
            poll: while true {
                switch scheduler.poll(now: now) {
                case .fetch(let id, _, _, _):
                    if now >= recovery { return (true, isGivenUp) }
                    failed.append(id)
                case .unreachable: isGivenUp = true
                case .wait: break poll
                default: continue
                }
            }
            now = now.advanced(by: .milliseconds(50))
            for id in failed { scheduler.handle(.cdnFailed(id, isFinal: false), now: now) }
            scheduler.handle(.timer, now: now)
        }
        return (false, isGivenUp)
    }

    @Test(arguments: [1, 5, 10, 25]) func anOutageIsOvercomeSoonAfterItsEnd(seconds: Int) {
        let (isHad, isGivenUp) = isHad(afterOutageOf: .seconds(seconds))
        #expect(isHad && !isGivenUp)
    }

    @Test func aCDNThatFailsForGoodIsGivenUp() { #expect(isHad(afterOutageOf: .seconds(60)) == (false, true)) }
}
