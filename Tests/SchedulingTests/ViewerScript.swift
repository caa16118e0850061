import CoreModel
import Scheduling

/// A viewer at the start of a stream of 2 s segments of 40 chunks each, which is 2.6 Mbps.
struct ViewerScript {
    static let byteCount = 40 * 16_384
    var scheduler = Scheduler(configuration: SchedulerConfiguration())
    var now = MonotonicInstant.origin.advanced(by: .seconds(1))
    private(set) var transfers: [(id: TransferID, segment: SegmentID, chunks: Range<Int>)] = []
    private(set) var requests: [(id: RequestID, peer: PeerKey, segment: SegmentID, chunks: Range<Int>)] = []
    private(set) var ended: [(id: TransferID, reason: Reason)] = []
    private(set) var takenBack: [(id: RequestID, reason: Reason)] = []
    private(set) var dropped: [PeerKey] = []

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
            case .cancelRequest(let id, _, let reason): takenBack.append((id, reason))
            case .drop(let peer, _): dropped.append(peer)
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

    /// Lets the CDN's first transfer end well.
    mutating func finishFirst() {
        feed(.cdnArrived(transfers[0].id, chunks: transfers[0].chunks))
        feed(.cdnFinished(transfers[0].id))
    }

    /// Lets the CDN's first transfer end well, and the viewer play.
    mutating func play() {
        finishFirst()
        feed(.playback(position: .zero, isPlaying: true))
    }

    /// Plays with a CDN of this rate, measured for some seconds, and beside a proven peer that holds all that follows.
    mutating func playBesideAHolder(bytesPerSecond: Int, seconds: Int) {
        receive(bytesPerSecond: bytesPerSecond, seconds: seconds)
        finishFirst()
        prove(1)
        for index in 1...7 { announce(1, index, 0..<40) }
        feed(.playback(position: .zero, isPlaying: true))
    }
}
