import CoreModel
import Scheduling
import Testing

/// Peers that announce what nobody gets of them: somebody must fetch the segment for the swarm all the same.
@Suite struct HollowHoldingTests {
    private static let segment = SegmentID(track: 0, index: 0)
    private static let chunkCount = 16

    /// What a peer does that says it holds a segment.
    enum Conduct { case sends, neverUploads, refuses, staysSilent }

    /// Whether the viewer claims a segment far ahead that only this peer says to hold.
    private func isClaimed(_ conduct: Conduct) -> Bool {
        var configuration = SchedulerConfiguration()
        configuration.member = MemberID(rawValue: 1)
        var scheduler = Scheduler(configuration: configuration)
        var now = MonotonicInstant.origin.advanced(by: .seconds(1))
        let byteCount = Self.chunkCount * SegmentGeometry.chunkByteCount
        let description = SegmentDescription(
            start: .seconds(25), duration: .seconds(4), estimatedByteCount: byteCount)
        scheduler.handle(.segments(track: 0, [description]), now: now)
        scheduler.handle(.record(Self.segment, key: 7, byteCount: byteCount, draw: 0.5), now: now)
        scheduler.handle(.swarm(.joined(size: 2)), now: now)
        let peer = PeerKey(rawValue: 1)
        scheduler.handle(.peerJoined(peer, member: MemberID(rawValue: 2), uploads: conduct != .neverUploads), now: now)
        let all = Holding(verified: ChunkSet(0..<Self.chunkCount))
        scheduler.handle(.peerHolds(peer, Self.segment, all), now: now)
        scheduler.handle(.playback(position: .zero, isPlaying: false), now: now)
        let end = now.advanced(by: .seconds(30))
        while now < end {
            var asked: [(id: RequestID, chunks: Range<Int>)] = []
            poll: while true {
                switch scheduler.poll(now: now) {
                case .claim: return true
                case .request(let id, _, _, let chunks, _, _): asked.append((id, chunks))
                case .wait: break poll
                default: continue
                }
            }
            for request in asked {
                switch conduct {
                case .sends:
                    for chunk in request.chunks {
                        let byteCount = SegmentGeometry.chunkByteCount
                        scheduler.handle(.chunkArrived(request.id, chunk: chunk, byteCount: byteCount), now: now)
                    }
                case .refuses:
                    scheduler.handle(
                        .rejected(
                            request.id, chunks: request.chunks, refusal: .busy, retryAfter: .milliseconds(100)),
                        now: now)
                case .neverUploads, .staysSilent: break
                }
            }
            now = now.advanced(by: .milliseconds(100))
            scheduler.handle(.timer, now: now)
        }
        return false
    }

    @Test func whatAPeerSendsIsNotClaimed() { #expect(!isClaimed(.sends)) }

    @Test(arguments: [Conduct.neverUploads, .refuses, .staysSilent])
    func whatNobodyGetsIsClaimed(_ conduct: Conduct) { #expect(isClaimed(conduct)) }
}
