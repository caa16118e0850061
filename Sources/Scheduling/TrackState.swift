internal import CoreModel

/// A track's timeline, and what is known of each of its segments.
struct TrackState: Sendable {
    /// The timeline; its memory is shared with whoever described it.
    private(set) var descriptions: [SegmentDescription] = []
    /// As many as descriptions.
    var segments: [SegmentState] = []
    /// A bit for each segment that is complete, so that a pass finds the others without touching these.
    private var complete: [UInt64] = []

    /// Where the last search ended; the next one is nearly always there or one further.
    private var lastFirst = 0
    /// The segments that may be worked on, and the bytes in them.
    private(set) var window = 0..<0
    private var windowByteCount = 0
    /// The next segment of the window that the pass under way looks at.
    var cursor = 0

    var count: Int { descriptions.count }

    mutating func append(_ more: [SegmentDescription]) {
        if descriptions.isEmpty { descriptions = more } else { descriptions += more }
        segments.append(contentsOf: repeatElement(SegmentState(), count: more.count))
        let words = (descriptions.count + 63) / 64
        complete.append(contentsOf: repeatElement(0, count: words - complete.count))
    }

    func isComplete(_ index: Int) -> Bool { complete[index >> 6] & 1 << UInt64(index & 63) != 0 }

    mutating func setComplete(_ index: Int, _ isComplete: Bool) {
        let bit: UInt64 = 1 << UInt64(index & 63)
        if isComplete { complete[index >> 6] |= bit } else { complete[index >> 6] &= ~bit }
    }

    /// The first segment from `index` on that is not complete, or `end`.
    func firstIncomplete(from index: Int, below end: Int) -> Int {
        guard index < end else { return end }
        var word = index >> 6
        var bits = ~complete[word] & (UInt64.max << UInt64(index & 63))
        while bits == 0 {
            word += 1
            guard word < complete.count else { return end }
            bits = ~complete[word]
        }
        return min(word << 6 + bits.trailingZeroBitCount, end)
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
    func reachedAtLeast(_ index: Int) -> Duration {
        let fraction = Double(segments[index].contiguousCount) / Double(chunkCount(index))
        return time(index, of: fraction >= 1 ? 1 : (fraction - Self.firstPicture) / (1 - Self.firstPicture))
    }

    private static let firstPicture = 0.2

    private func time(_ index: Int, of fraction: Double) -> Duration {
        descriptions[index].start
            + .clamping(seconds: descriptions[index].duration.inSeconds * min(max(fraction, 0), 1))
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
        cursor = firstIncomplete(from: lower, below: upper)
    }

    /// Takes the cursor to the next segment of the window that isn't complete.
    mutating func advanceCursor() { cursor = firstIncomplete(from: cursor + 1, below: window.upperBound) }
}
