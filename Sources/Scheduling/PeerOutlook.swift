internal import CoreModel

/// What peers may be counted on for of one segment.
struct PeerOutlook: Sendable {
    /// What proven holders of the segment send this viewer together, in bytes per second.
    private var rate = 0.0
    /// What they have of it, verified.
    private var held = ChunkSet()
    /// What is asked of peers for earlier segments and not answered, in chunks.
    private var ahead = 0

    /// Nobody is counted on.
    init() {}

    init(of id: SegmentID, in scheduler: borrowing Scheduler, now: MonotonicInstant) {
        let segment = scheduler.tracks[id.track].segments[id.index]
        for holder in segment.holders where !holder.holding.verified.isEmpty {
            guard let index = scheduler.peerIndex(holder.peer), scheduler.peers[index].uploads,
                scheduler.peers[index].isReliable, !scheduler.peers[index].isSilent(now),
                let rate = scheduler.peers[index].throughput.bytesPerSecond
            else { continue }
            self.rate += rate * scheduler.peers[index].trust
            held.formUnion(holder.holding.verified)
        }
        let start = scheduler.tracks[id.track].descriptions[id.index].start
        for request in scheduler.requests
        where scheduler.tracks[request.segment.track].descriptions[request.segment.index].start < start {
            ahead += request.open.count
        }
    }

    /// How long before its playback the CDN has to be asked for what is missing: what it needs, but where that is long, for
    /// its line is slow or everybody asks it at once, no longer than ``SchedulerConfiguration/peerReserve`` as long as peers
    /// will bring it in time.
    ///
    /// - Parameters:
    ///   - need: What the CDN needs.
    ///   - missing: How many chunks are missing up to there.
    ///   - chunks: What has to be there.
    ///   - left: The time left.
    func limit(
        _ need: Duration, for missing: Int, in chunks: Range<Int>, left: Duration,
        _ configuration: SchedulerConfiguration
    ) -> Duration {
        guard need > configuration.peerReserve, rate > 0, held.contains(chunks) else { return need }
        let seconds = Double((ahead + missing) * SegmentGeometry.chunkByteCount) / rate * configuration.handoverFactor
        return Duration.clamping(seconds: seconds) < left ? configuration.peerReserve : need
    }
}
