internal import CoreModel

/// What the scheduler keeps of one peer.
struct PeerState: Sendable {
    let key: PeerKey
    let member: MemberID
    /// Whether the peer uploads at all.
    let uploads: Bool
    var throughput = ThroughputEstimator(halfLife: .seconds(3))
    /// Where the furthest segment starts of which the peer holds something: how far ahead it is, about.
    var reach = Duration.zero
    /// Demotes a peer that stalled; 1 for a good one.
    var trust = 1.0 { didSet { isReckoned = false } }
    private(set) var stalls = 0
    /// Whether all that the peer was asked was taken back while it sent nothing.
    var wasTakenBack = false
    var refusals = 0
    /// The peer is not asked before this instant.
    var restsUntil = MonotonicInstant.origin
    /// Chunks asked of the peer and not answered.
    var outstandingChunks = 0 { didSet { isReckoned = false } }
    /// When the peer last sent a chunk, or was first asked after an idle time.
    var lastProgress = MonotonicInstant.origin
    /// When the chunk before the last one came, to measure busy time.
    var busySince = MonotonicInstant.origin
    /// Whether the two below are right.
    private var isReckoned = false
    /// How many more chunks may be asked of the peer.
    private(set) var room = 0
    /// How many chunks may be outstanding of each segment that has little time: what waits long with one peer can't come
    /// from another meanwhile.
    private(set) var tightLimit = 0
    /// When the peer would have sent one chunk more, were it asked now.
    private(set) var finish = Duration.zero

    init(key: PeerKey, member: MemberID, uploads: Bool) {
        self.key = key
        self.member = member
        self.uploads = uploads
    }

    /// Whether what the peer announces counts as there: it has not stalled since it last sent a chunk, nor refused again and
    /// again. One that has sent something may be busy with those who need it more.
    var isReliable: Bool { stalls == 0 && refusals < (throughput.bytesPerSecond == nil ? 8 : 64) }

    /// Whether the peer has been asked for something and sends nothing: at the last moment for the CDN it does not count,
    /// however fast it was before.
    func isSilent(_ now: MonotonicInstant) -> Bool {
        (outstandingChunks > 0 || wasTakenBack) && lastProgress.duration(to: now) > .milliseconds(100)
    }

    /// Notes that the peer is asked for so many chunks.
    mutating func ask(_ count: Int, now: MonotonicInstant) {
        // What was taken back from it does not make its silence begin anew.
        if outstandingChunks == 0, !wasTakenBack {
            busySince = now
            lastProgress = now
        }
        outstandingChunks += count
    }

    /// Notes that the peer answered, if only with no.
    mutating func answer(now: MonotonicInstant) {
        wasTakenBack = false
        lastProgress = now
    }

    /// Notes that it sent nothing for too long.
    mutating func stall(silence: Duration) {
        throughput.add(byteCount: 0, over: silence)
        stalls += 1
        wasTakenBack = false
        trust = max(0.05, trust / 2)
    }

    /// Notes a chunk.
    mutating func receive(byteCount: Int, now: MonotonicInstant) {
        outstandingChunks -= 1
        throughput.add(byteCount: byteCount, over: busySince.duration(to: now))
        busySince = now
        answer(now: now)
        stalls = 0
        refusals = 0
        trust = min(1, trust * 1.05)
    }

    /// The rate that plans count on, in bytes per second.
    func rate(_ configuration: SchedulerConfiguration) -> Double {
        max(4096, (throughput.bytesPerSecond ?? configuration.unprovenPeerRate) * trust)
    }

    /// How long the peer takes for so many chunks.
    func time(for chunks: Int, _ configuration: SchedulerConfiguration) -> Duration {
        let bytes = Double(chunks * SegmentGeometry.chunkByteCount)
        return .clamping(seconds: bytes / rate(configuration))
    }

    /// Whether the peer may be asked for anything.
    mutating func isOpen(now: MonotonicInstant, _ configuration: SchedulerConfiguration) -> Bool {
        guard uploads, restsUntil <= now else { return false }
        reckon(configuration)
        return room > 0
    }

    /// Works out what the peer can still send, when that may have changed.
    private mutating func reckon(_ configuration: SchedulerConfiguration) {
        guard !isReckoned else { return }
        isReckoned = true
        let bytes = rate(configuration) * configuration.peerQueue.inSeconds
        let chunks = Int(min(bytes, 64e6)) / SegmentGeometry.chunkByteCount
        room = min(max(chunks, SegmentGeometry.chunksPerStripe), 512) - outstandingChunks
        let few = Int(min(rate(configuration) * configuration.tightPeerQueue.inSeconds, 64e6))
        tightLimit = max(few / SegmentGeometry.chunkByteCount, SegmentGeometry.chunksPerStripe / 2)
        finish = time(for: outstandingChunks + 1, configuration)
    }
}
