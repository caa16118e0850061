import CoreModel
import Scheduling
import Testing

/// A CDN that brings less than playback needs: what it was asked for may come sooner from peers, and asking it earlier only
/// makes it slower for everybody.
@Suite struct SlowCDNTests {
    /// A viewer at the start of a stream of 2 s segments of 40 chunks each, which is 2.6 Mbps.
    private struct Script {
        static let byteCount = 40 * 16_384
        var scheduler = Scheduler(configuration: SchedulerConfiguration())
        var now = MonotonicInstant.origin.advanced(by: .seconds(1))
        private(set) var transfers: [(id: TransferID, segment: SegmentID, chunks: Range<Int>)] = []
        private(set) var requests: [(id: RequestID, peer: PeerKey, segment: SegmentID, chunks: Range<Int>)] = []
        private(set) var ended: [(id: TransferID, reason: Reason)] = []

        init() {
            feed(.swarm(.joined(size: 3)))
            feed(
                .segments(
                    track: 0,
                    (0..<8).map {
                        SegmentDescription(
                            start: .seconds(2 * $0), duration: .seconds(2), estimatedByteCount: Self.byteCount,
                            playsProgressively: true)
                    }))
            for index in 0..<8 {
                feed(.record(Self.segment(index), key: UInt64(index), byteCount: Self.byteCount, draw: 1))
            }
            for peer in 1...2 {
                feed(.peerJoined(Self.peer(peer), member: MemberID(rawValue: UInt64(peer)), uploads: true))
            }
            feed(.front(Front(members: [MemberID(rawValue: 99)])))
            feed(.playback(position: .zero, isPlaying: false))
        }

        static func segment(_ index: Int) -> SegmentID { SegmentID(track: 0, index: index) }
        static func peer(_ index: Int) -> PeerKey { PeerKey(rawValue: index) }

        mutating func feed(_ input: SchedulerInput) {
            scheduler.handle(input, now: now)
            poll()
        }

        mutating func pass(_ span: Duration) {
            now = now.advanced(by: span)
            feed(.timer)
        }

        private mutating func poll() {
            while true {
                switch scheduler.poll(now: now) {
                case .fetch(let id, let segment, let chunks, _): transfers.append((id, segment, chunks ?? 0..<40))
                case .cancelFetch(let id, let reason): ended.append((id, reason))
                case .request(let id, let peer, let segment, let chunks, _, _):
                    requests.append((id, peer, segment, chunks))
                case .wait: return
                default: continue
                }
            }
        }

        /// Lets the CDN's first transfer run at a rate for some seconds.
        mutating func receive(bytesPerSecond: Int, seconds: Int) {
            let id = transfers[0].id
            feed(.cdnResponded(id, after: .milliseconds(20)))
            for _ in 0..<seconds * 10 {
                now = now.advanced(by: .milliseconds(100))
                feed(.cdnReceived(id, byteCount: bytesPerSecond / 10))
            }
        }

        /// Says that a peer holds these chunks of a segment, verified or only expected.
        mutating func announce(_ peer: Int, _ index: Int, _ chunks: Range<Int>, isExpected: Bool = false) {
            let holding =
                isExpected
                ? Holding(verified: ChunkSet(), expected: ChunkSet(chunks))
                : Holding(verified: ChunkSet(chunks), expected: ChunkSet())
            feed(.peerHolds(Self.peer(peer), Self.segment(index), holding))
            pass(.milliseconds(20))
        }

        /// Lets a peer bring what the CDN was not asked for of the first segment, so that it has proven itself.
        mutating func prove(_ peer: Int) {
            announce(peer, 0, transfers[0].chunks.upperBound..<40)
            while let next = requests.first {
                requests.removeFirst()
                for chunk in next.chunks {
                    now = now.advanced(by: .milliseconds(5))
                    feed(.chunkArrived(next.id, chunk: chunk, byteCount: 16_384))
                }
                pass(.milliseconds(20))
            }
        }
    }

    @Test func whatASlowCDNIsBringingIsAskedOfPeersThatHoldItAndThenTakenFromTheCDN() throws {
        var script = Script()
        let first = try #require(script.transfers.first)
        #expect(first.segment == Script.segment(0))
        script.prove(1)
        // 50 kB/s: the first two stripes alone take 5 s.
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.feed(.playback(position: .zero, isPlaying: true))
        #expect(script.ended.isEmpty)
        script.announce(1, 0, 0..<40)
        let asked = script.requests.filter { $0.segment == Script.segment(0) }
        #expect(asked.contains { $0.chunks.overlaps(first.chunks) })
        // Down to what is on its way, which the CDN may finish.
        let position = first.chunks.lowerBound + 50_000 / 16_384
        #expect(asked.allSatisfy { $0.chunks.lowerBound > position })
        // What the CDN brings within the second comes; all that is left is the peer's.
        for _ in 0..<4 {
            script.feed(.cdnReceived(first.id, byteCount: 16_384))
            script.pass(.milliseconds(20))
        }
        #expect(script.ended.contains { $0.id == first.id && $0.reason == .handedBack })
    }

    @Test func whatPeersOnlyExpectOrNeverProvedIsLeftToTheCDN() throws {
        var script = Script()
        let first = try #require(script.transfers.first)
        script.prove(1)
        script.receive(bytesPerSecond: 50_000, seconds: 1)
        script.feed(.playback(position: .zero, isPlaying: true))
        // One waits for the CDN as this viewer does; the other has never sent anything.
        script.announce(1, 0, 0..<40, isExpected: true)
        script.announce(2, 0, 0..<40)
        for _ in 0..<5 { script.pass(.milliseconds(100)) }
        #expect(script.ended.allSatisfy { $0.id != first.id })
        #expect(
            script.requests.filter { $0.segment == Script.segment(0) }.allSatisfy { !$0.chunks.overlaps(first.chunks) })
    }

    @Test func whatPeersWillBringInTimeIsNotAskedOfASlowCDNLongBefore() {
        var script = Script()
        script.prove(1)
        // 50 kB/s: the first two stripes take 5 s.
        script.receive(bytesPerSecond: 50_000, seconds: 6)
        // The segment that is played 4 s from now would take the CDN 13 s, and the peer, at 3 MB/s, a fifth of a second.
        for index in 1...7 { script.announce(1, index, 0..<40) }
        script.feed(.cdnArrived(script.transfers[0].id, chunks: script.transfers[0].chunks))
        script.feed(.cdnFinished(script.transfers[0].id))
        script.feed(.playback(position: .zero, isPlaying: true))
        script.pass(.milliseconds(20))
        #expect(script.transfers.allSatisfy { $0.segment.index == 0 })
        #expect(script.requests.contains { $0.segment == Script.segment(1) })
    }

    @Test func whatNobodyHoldsIsAskedOfASlowCDNAsEarlyAsItNeeds() {
        var script = Script()
        script.prove(1)
        script.receive(bytesPerSecond: 50_000, seconds: 6)
        script.feed(.cdnArrived(script.transfers[0].id, chunks: script.transfers[0].chunks))
        script.feed(.cdnFinished(script.transfers[0].id))
        script.feed(.playback(position: .zero, isPlaying: true))
        script.pass(.milliseconds(20))
        #expect(script.transfers.contains { $0.segment == Script.segment(1) })
    }
}
