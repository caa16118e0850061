internal import CoreModel

/// What the scheduler keeps of one segment beside its place in the timeline.
struct SegmentState: Sendable {
    /// Whether the segment can be shared.
    enum Record: Sendable, Equatable {
        case pending
        case valid
        case none
    }

    /// What a peer has said of the segment.
    struct Holder: Sendable {
        var peer: PeerKey
        var holding: Holding
    }

    /// The exact size, or -1.
    private var knownByteCount = -1
    /// The number that every viewer draws from the record.
    private var key: UInt64 = 0
    /// This viewer's place in the election, in [0, 1).
    var draw = 1.0
    /// Chunks that are there.
    var present = ChunkSet()
    /// Chunks asked of peers and not answered.
    var requested = ChunkSet()
    /// Chunks that transfers from the CDN will bring.
    var fetching = ChunkSet()
    /// What peers have said, in the order of their keys.
    var holders: [Holder] = []
    /// The time left when the segment was first wanted; margins never take more than a part of it.
    var room: Duration?
    var record = Record.pending
    var hasClaim = false
    var isGone = false
    var isUnreachableReported = false
    /// Failures of the CDN since it last brought something of the segment, and when the first of them was.
    var failures: Int32 = 0
    var failingSince = MonotonicInstant.origin
    var retryAt = MonotonicInstant.origin
    /// When the segment came within the window of the front; backups and elections count from here.
    var entered: MonotonicInstant?
    /// A transfer of the whole segment, or of a start whose end isn't known yet.
    var openTransfer: TransferID?

    /// The exact size, once known.
    var byteCount: Int? {
        get { knownByteCount < 0 ? nil : knownByteCount }
        set { knownByteCount = newValue ?? -1 }
    }

    var geometry: SegmentGeometry? { SegmentGeometry(byteCount: knownByteCount) }

    var shareKey: UInt64? { record == .valid ? key : nil }

    /// Notes that the CDN failed, after it brought so many chunks.
    mutating func fail(isFinal: Bool, brought: Int, now: MonotonicInstant, _ configuration: SchedulerConfiguration) {
        // A transfer that broke off and brought something has made progress.
        if brought > 0 { failures = 0 }
        if failures == 0 { failingSince = now }
        failures += 1
        let isHopeless = failures >= 5 && failingSince.duration(to: now) >= configuration.segmentPatience
        if isFinal || isHopeless { isGone = true }
        let delay = Duration.milliseconds(250) * (1 << min(failures, 5))
        retryAt = now.advanced(by: min(delay, configuration.maximumRetryDelay))
    }

    mutating func setRecord(key: UInt64, draw: Double) {
        record = .valid
        self.key = key
        self.draw = draw
    }

    /// The chunks that are there from the segment's start without a hole.
    var contiguousCount: Int { present.runLength(from: 0) }

    // MARK: - What peers hold

    /// Where a peer is among the holders, or would be.
    private func place(of peer: PeerKey) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, holders.count)
        while low < high {
            let middle = (low + high) / 2
            if holders[middle].peer < peer { low = middle + 1 } else { high = middle }
        }
        return (low, low < holders.count && holders[low].peer == peer)
    }

    func holding(of peer: PeerKey) -> Holding? {
        let place = place(of: peer)
        return place.isThere ? holders[place.index].holding : nil
    }

    /// Notes what a peer holds; gives what it held before.
    @discardableResult
    mutating func setHolding(_ holding: Holding, of peer: PeerKey) -> Holding? {
        let place = place(of: peer)
        guard place.isThere else {
            holders.insert(Holder(peer: peer, holding: holding), at: place.index)
            return nil
        }
        let old = holders[place.index].holding
        holders[place.index].holding = holding
        return old
    }

    mutating func forget(_ peer: PeerKey) {
        let place = place(of: peer)
        if place.isThere { holders.remove(at: place.index) }
    }
}
