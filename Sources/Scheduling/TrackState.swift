internal import CoreModel

/// A track's timeline, and what is known of each of its segments.
struct TrackState: Sendable {
    /// All tracks share what nobody has touched.
    private static let untouched = SparseArray(initial: SegmentState())

    /// The timeline; its memory is shared with whoever described it.
    private(set) var descriptions: [SegmentDescription] = []
    /// As many as descriptions.
    var segments = Self.untouched
    /// A bit for each segment that is complete, so that a pass finds the others without touching these.
    private var complete: [UInt64] = []

    /// Where the last search ended; the next one is nearly always there or one further.
    private var lastFirst = 0
    /// The segments that may be worked on, and the bytes in them.
    private(set) var window = 0..<0
    private var windowByteCount = 0
    /// The pass under way has looked at what is before this segment.
    private var cursor = 0
    /// For each segment the peers that it waits for, as a mask; long before its playback nothing is decided about it before
    /// one of them may be asked.
    private var awaited: [UInt64] = []
    /// Segments before this one are within the front's window.
    private var shareIndex = 0
    /// From this segment on quiet ones are passed over.
    private var nearEnd = 0

    var count: Int { descriptions.count }

    mutating func append(_ more: [SegmentDescription]) {
        if descriptions.isEmpty { descriptions = more } else { descriptions += more }
        segments.grow(to: descriptions.count)
        let words = (descriptions.count + 63) / 64
        complete.append(contentsOf: repeatElement(0, count: words - complete.count))
        awaited.append(contentsOf: repeatElement(.max, count: more.count))
    }

    /// Takes a segment in another rendition: nothing is known of that.
    mutating func change(_ index: Int, to description: SegmentDescription) {
        descriptions[index] = description
        segments[index] = SegmentState()
        setComplete(index, false)
        rouse(index)
        // Its sum is another now.
        window = 0..<0
        windowByteCount = 0
    }

    /// The peers that a segment waits for.
    mutating func setAwaited(_ index: Int, _ peers: UInt64) { awaited[index] = peers }

    /// Something of the segment has changed: it is to be looked at.
    mutating func rouse(_ index: Int) { awaited[index] = .max }

    /// Something that every segment depends on has changed.
    mutating func rouseAll() {
        for index in awaited.indices { awaited[index] = .max }
        shareIndex = 0
    }

    func isComplete(_ index: Int) -> Bool { complete[index >> 6] & 1 << UInt64(index & 63) != 0 }

    mutating func setComplete(_ index: Int, _ isComplete: Bool) {
        let bit: UInt64 = 1 << UInt64(index & 63)
        if isComplete { complete[index >> 6] |= bit } else { complete[index >> 6] &= ~bit }
    }

    /// The first segment from `index` on that isn't complete, or `end`.
    private func firstIncomplete(from index: Int, below end: Int) -> Int {
        var index = index
        while index < end {
            let open = ~complete[index >> 6] & (UInt64.max << UInt64(index & 63))
            if open != 0 { return min((index & ~63) + open.trailingZeroBitCount, end) }
            index = (index & ~63) + 64
        }
        return end
    }

    /// Whether the window has a segment that isn't complete.
    var isWaiting: Bool {
        firstIncomplete(from: window.lowerBound, below: window.upperBound) < window.upperBound
    }

    /// The bytes of a segment, as far as known.
    func size(_ index: Int) -> Int { segments[index].byteCount ?? descriptions[index].estimatedByteCount }

    /// The number of chunks, estimated until the size is known; never more than a segment can have.
    func chunkCount(_ index: Int) -> Int {
        let size = min(max(1, size(index)), SegmentGeometry.maximumByteCount)
        return (size + SegmentGeometry.chunkByteCount - 1) / SegmentGeometry.chunkByteCount
    }

    /// Notes the exact size, or that it isn't known any more.
    mutating func setByteCount(_ index: Int, _ byteCount: Int?) {
        segments[index].byteCount = byteCount
        // Its sum is another now.
        window = 0..<0
        windowByteCount = 0
    }

    /// Notes chunks that came in; true when the segment became complete.
    mutating func arrive(_ index: Int, _ chunks: Range<Int>) -> Bool {
        segments[index].present.insert(chunks)
        guard !isComplete(index), let geometry = segments[index].geometry,
            segments[index].present.contains(geometry.chunks)
        else { return false }
        setComplete(index, true)
        return true
    }

    // MARK: - Time

    /// The time up to which the media is there, from the segment's start on, were its bytes spread evenly.
    func reached(_ index: Int) -> Duration {
        time(index, of: Double(segments[index].contiguousCount) / Double(chunkCount(index)))
    }

    /// The time up to which the media is there at least: the first picture of a segment can be a fifth of its bytes.
    mutating func reachedAtLeast(_ index: Int) -> Duration {
        let fraction = Double(segments[index].contiguousCount) / Double(chunkCount(index))
        let first = PlayTimes.firstPicture
        return time(index, of: fraction >= 1 ? 1 : (fraction - first) / (1 - first))
    }

    private func time(_ index: Int, of fraction: Double) -> Duration {
        PlayTimes(descriptions[index]).time(of: fraction)
    }

    /// The first segment that ends after `head`.
    ///
    /// - Complexity: O(1) near where the last search ended, else O(log *n*).
    mutating func firstIndex(at head: Duration) -> Int {
        let count = descriptions.count
        for index in lastFirst..<min(lastFirst + 2, count + 1) where isFirst(index, after: head) {
            lastFirst = index
            return index
        }
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if descriptions[middle].end <= head { low = middle + 1 } else { high = middle }
        }
        lastFirst = low
        return low
    }

    private func isFirst(_ index: Int, after head: Duration) -> Bool {
        (index == descriptions.count || descriptions[index].end > head)
            && (index == 0 || descriptions[index - 1].end <= head)
    }

    /// Moves the window: from the first segment that ends after `head`, those that start before `end` until `limit` bytes
    /// are in it.
    ///
    /// - Complexity: O(segments that come in or go out).
    mutating func moveWindow(from head: Duration, to end: Duration, limit: Int) {
        let first = firstIndex(at: head)
        var (lower, upper) = (window.lowerBound, window.upperBound)
        if first < lower || first > upper { (lower, upper, windowByteCount) = (first, first, 0) }
        while lower < first {
            windowByteCount -= size(lower)
            lower += 1
        }
        while upper > lower, descriptions[upper - 1].start >= end {
            upper -= 1
            windowByteCount -= size(upper)
        }
        while upper < descriptions.count, descriptions[upper].start < end, windowByteCount < limit {
            windowByteCount += size(upper)
            upper += 1
        }
        window = lower..<upper
    }

    /// Sets the cursor to the first segment of the window that is to be looked at.
    ///
    /// - Parameters:
    ///   - far: Quiet segments that start from here on are passed over.
    ///   - shareEnd: Where the front's window ends; a segment that comes into it isn't quiet.
    mutating func resetCursor(far: Duration, shareEnd: Duration) {
        shareIndex = max(shareIndex, window.lowerBound)
        while shareIndex < descriptions.count, descriptions[shareIndex].start < shareEnd {
            rouse(shareIndex)
            shareIndex += 1
        }
        nearEnd = window.lowerBound
        cursor = window.lowerBound
        extendNear(to: far)
    }

    /// Looks at quiet segments up to another time too.
    mutating func extendNear(to far: Duration) {
        while nearEnd < window.upperBound, descriptions[nearEnd].start <= far { nearEnd += 1 }
    }

    /// The next segment of the window that the pass under way is to look at.
    ///
    /// - Parameter openPeers: The peers that may be asked, as a mask.
    func next(_ openPeers: UInt64) -> Int? {
        let end = window.upperBound
        var index = firstIncomplete(from: cursor, below: end)
        while index < end {
            // Nobody waits for the highest bit alone: it says that the segment has changed.
            if index < nearEnd || awaited[index] == .max || awaited[index] & openPeers != 0 { return index }
            index = firstIncomplete(from: index + 1, below: end)
        }
        return nil
    }

    /// The segment has had its turn.
    mutating func pass(_ index: Int) { cursor = index + 1 }
}
