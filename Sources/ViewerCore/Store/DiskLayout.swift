internal import CoreModel

/// Which parts of a file are taken, in pages of a chunk's size.
///
/// The free runs are kept merged and in order, so that equal uses give equal layouts. Space is taken from the first run
/// that holds all that is asked for, then from the end of the file, and only then in pieces.
struct DiskLayout: Sendable {
    /// Bytes of a page: what a chunk takes, also a shorter last one.
    static let pageByteCount = SegmentGeometry.chunkByteCount

    /// The most pages that the file may have.
    private(set) var limit: Int
    /// The pages up to the last one taken.
    private(set) var end = 0
    /// Free runs before ``end``: ascending, apart from each other.
    private(set) var free: [Range<Int>] = []
    /// The pages taken.
    private(set) var usedCount = 0

    /// Starts with nothing taken.
    init(limit: Int) { self.limit = limit }

    /// The pages that can still be taken.
    var freeCount: Int { max(0, limit - usedCount) }

    /// Takes pages, in as few runs as there are room for; `nil`, with nothing taken, when there are not so many.
    ///
    /// - Complexity: O(*n*) in the free runs.
    mutating func allocate(_ count: Int) -> [Range<Int>]? {
        precondition(count > 0, "\(count) pages")
        guard count <= freeCount else { return nil }
        usedCount += count
        if let index = free.firstIndex(where: { $0.count >= count }) { return [take(count, at: index)] }
        if limit - end >= count { return [extend(count)] }
        var runs: [Range<Int>] = []
        var missing = count
        while missing > 0, !free.isEmpty {
            let run = take(min(missing, free[0].count), at: 0)
            runs.append(run)
            missing -= run.count
        }
        if missing > 0 { runs.append(extend(missing)) }
        return runs
    }

    /// Gives runs back that ``allocate(_:)`` gave.
    mutating func release(_ runs: [Range<Int>]) {
        for run in runs {
            usedCount -= run.count
            var merged = run
            let place = free.firstIndex { $0.lowerBound > run.lowerBound } ?? free.endIndex
            var replaced = place..<place
            if place < free.endIndex, free[place].lowerBound == run.upperBound {
                merged = merged.lowerBound..<free[place].upperBound
                replaced = place..<place + 1
            }
            if place > 0, free[place - 1].upperBound == run.lowerBound {
                merged = free[place - 1].lowerBound..<merged.upperBound
                replaced = place - 1..<replaced.upperBound
            }
            free.replaceSubrange(replaced, with: [merged])
        }
        if let last = free.last, last.upperBound == end {
            end = last.lowerBound
            free.removeLast()
        }
    }

    /// Changes the most pages that the file may have. What lies behind them has to be released first.
    mutating func setLimit(_ count: Int) {
        precondition(end <= count, "\(end) pages of at most \(count)")
        limit = count
    }

    private mutating func take(_ count: Int, at index: Int) -> Range<Int> {
        let run = free[index].lowerBound..<free[index].lowerBound + count
        if run.count == free[index].count {
            free.remove(at: index)
        } else {
            free[index] = run.upperBound..<free[index].upperBound
        }
        return run
    }

    private mutating func extend(_ count: Int) -> Range<Int> {
        let run = end..<end + count
        end += count
        return run
    }
}
