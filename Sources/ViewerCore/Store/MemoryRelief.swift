public import Scheduling

/// Which segments leave the memory next.
///
/// What lies furthest behind the playhead goes first. With a disk, segments begin to move there while a quarter of the
/// memory is still free, so that the bound holds also while they are on their way; what the disk doesn't take in time is
/// lost once the bound is passed.
public struct MemoryRelief {
    /// A segment that has bytes in memory and is not on its way to the disk: one behind the playhead, or on the disk too.
    public struct Candidate: Sendable, Hashable {
        /// The segment.
        public var id: SegmentID
        /// Its start in the stream.
        public var start: Duration
        /// The memory that it takes.
        public var byteCount: Int
        /// Whether it is on the disk too.
        public var isOnDisk: Bool
        /// Whether it may go there: whole and verified.
        public var canMove: Bool

        /// Describes a segment.
        public init(id: SegmentID, start: Duration, byteCount: Int, isOnDisk: Bool, canMove: Bool) {
            self.id = id
            self.start = start
            self.byteCount = byteCount
            self.isOnDisk = isOnDisk
            self.canMove = canMove
        }
    }

    /// What becomes of a segment.
    public enum Step: Sendable, Hashable {
        /// Its memory is given back: it is on the disk.
        case unload(SegmentID)
        /// It is written to the disk and stays in memory until then.
        case move(SegmentID)
        /// It is dropped.
        case lose(SegmentID)
    }

    /// The bytes on their way to the disk at most, beside a single larger segment; and what is free when moves begin.
    static func share(of limit: Int) -> Int { limit / 4 }

    /// Whether anything has to leave.
    public static func isNeeded(heldByteCount: Int, limit: Int, hasDisk: Bool) -> Bool {
        heldByteCount > (hasDisk ? limit - share(of: limit) : limit)
    }

    /// What has to be done to keep within `limit`.
    ///
    /// - Parameters:
    ///   - heldByteCount: All of the memory that is taken.
    ///   - movingByteCount: The part of it that is on its way to the disk.
    ///   - limit: What may be taken.
    ///   - hasDisk: Whether the disk takes segments.
    /// - Complexity: O(*n* log *n*) in the candidates.
    public static func steps(
        heldByteCount: Int, movingByteCount: Int, limit: Int, hasDisk: Bool, candidates: [Candidate]
    ) -> [Step] {
        let sorted = candidates.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
        var steps: [Step] = []
        var (held, moving) = (heldByteCount, movingByteCount)
        var rest: [Candidate] = []
        for candidate in sorted {
            // What is moving is as good as gone.
            let isRoomWanted = isNeeded(heldByteCount: held - moving, limit: limit, hasDisk: hasDisk)
            let fits = moving == 0 || moving + candidate.byteCount <= share(of: limit)
            if candidate.isOnDisk, isRoomWanted {
                steps.append(.unload(candidate.id))
                held -= candidate.byteCount
            } else if hasDisk, candidate.canMove, isRoomWanted, fits {
                steps.append(.move(candidate.id))
                moving += candidate.byteCount
            } else {
                rest.append(candidate)
            }
        }
        for candidate in rest where held > limit {
            steps.append(candidate.isOnDisk ? .unload(candidate.id) : .lose(candidate.id))
            held -= candidate.byteCount
        }
        return steps
    }
}
