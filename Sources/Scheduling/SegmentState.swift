internal import CoreModel

/// What the scheduler keeps of one segment.
struct SegmentState: Sendable {
    /// Whether the segment can be shared.
    enum Record: Sendable, Equatable {
        case pending
        case valid(key: UInt64)
        case none
    }

    /// Owners that a claim named, until it proves void.
    struct Claim: Sendable, Equatable {
        var claimer: MemberID
        var front: Front
        var expires: MonotonicInstant
    }

    let description: SegmentDescription
    /// The exact size, once known.
    var byteCount: Int?
    var record = Record.pending
    /// This viewer's place in the election, in [0, 1).
    var draw = 1.0
    /// Chunks that are there.
    var present = ChunkSet()
    /// Chunks asked of peers and not answered.
    var requested = ChunkSet()
    /// Chunks that transfers from the CDN will bring.
    var fetching = ChunkSet()
    /// A transfer of the whole segment, or of a start whose end isn't known yet.
    var openTransfer: TransferID?
    var isComplete = false
    /// When the segment came within the window of the front; backups and elections count from here.
    var entered: MonotonicInstant?
    /// The time left when the segment was first wanted; margins never take more than a part of it.
    var room: Duration?
    var claim: Claim?
    var failures = 0
    var isGone = false
    var retryAt = MonotonicInstant.origin
    var isUnreachableReported = false

    init(_ description: SegmentDescription) {
        self.description = description
    }

    var geometry: SegmentGeometry? { byteCount.flatMap(SegmentGeometry.init(byteCount:)) }

    /// The number of chunks, estimated until the size is known; never more than a segment can have.
    var chunkCount: Int {
        let size = min(max(1, byteCount ?? description.estimatedByteCount), SegmentGeometry.maximumByteCount)
        return (size + SegmentGeometry.chunkByteCount - 1) / SegmentGeometry.chunkByteCount
    }

    /// The time up to which the media is there, from the segment's start on, were its bytes spread evenly.
    var reached: Duration { time(of: Double(contiguousCount) / Double(chunkCount)) }

    /// The time up to which the media is there at least: the first picture of a segment can be a fifth of its bytes.
    var reachedAtLeast: Duration {
        let fraction = Double(contiguousCount) / Double(chunkCount)
        return time(of: fraction >= 1 ? 1 : (fraction - Self.firstPicture) / (1 - Self.firstPicture))
    }

    private static let firstPicture = 0.2

    private func time(of fraction: Double) -> Duration {
        description.start + .clamping(seconds: description.duration.inSeconds * min(max(fraction, 0), 1))
    }

    var shareKey: UInt64? {
        if case .valid(let key) = record { key } else { nil }
    }

    /// Chunks that nobody has been asked for.
    func missing(in range: Range<Int>) -> [Range<Int>] {
        var taken = present
        taken.formUnion(requested)
        taken.formUnion(fetching)
        return taken.missing(in: range)
    }

    /// The chunks that are there from the segment's start without a hole.
    var contiguousCount: Int { present.runLength(from: 0) }

    /// Notes chunks that came in; true when the segment became complete.
    mutating func arrive(_ chunks: Range<Int>) -> Bool {
        present.insert(chunks)
        guard !isComplete, let geometry, present.contains(geometry.chunks) else { return false }
        isComplete = true
        return true
    }
}
