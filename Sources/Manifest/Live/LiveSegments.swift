/// The segments of a live rendition that are known: those of the window, and some that have left it a short while ago.
///
/// What leaves at the front keeps its index, which is never given again. They are in blocks, so that a copy that is read
/// while the next refresh appends costs a block and not the window.
struct LiveSegments: Sendable {
    private static let blockCount = 64

    private var blocks: [[SegmentReference]] = []
    /// The index of the first segment of the first block.
    private var base = 0
    /// The first segment that is kept.
    private(set) var startIndex = 0
    /// The next index.
    private(set) var endIndex = 0

    var isEmpty: Bool { startIndex == endIndex }
    var last: SegmentReference? { isEmpty ? nil : self[endIndex - 1] }

    subscript(index: Int) -> SegmentReference {
        get {
            precondition(index >= startIndex && index < endIndex, "index out of the timeline")
            return blocks[(index - base) / Self.blockCount][(index - base) % Self.blockCount]
        }
        set {
            precondition(index >= startIndex && index < endIndex, "index out of the timeline")
            blocks[(index - base) / Self.blockCount][(index - base) % Self.blockCount] = newValue
        }
    }

    /// Adds a segment behind the last; beyond ``ManifestLimits/liveSegmentCount`` the first one goes.
    mutating func append(_ segment: SegmentReference) {
        if blocks.last.map({ $0.count == Self.blockCount }) ?? true {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(Self.blockCount)
        }
        blocks[blocks.count - 1].append(segment)
        endIndex += 1
        if endIndex - startIndex > ManifestLimits.liveSegmentCount { removeFirst(upTo: startIndex + 1) }
    }

    /// Drops the segments before `index`, memory in whole blocks.
    mutating func removeFirst(upTo index: Int) {
        startIndex = min(max(startIndex, index), endIndex)
        let count = (startIndex - base) / Self.blockCount
        guard count > 0 else { return }
        blocks.removeFirst(count)
        base += count * Self.blockCount
    }

    /// Drops the segments from `index` on: the presentation ended before them.
    mutating func removeLast(from index: Int) {
        let index = max(index, startIndex)
        guard index < endIndex else { return }
        endIndex = index
        while let count = blocks.last?.count, base + (blocks.count - 1) * Self.blockCount >= index, count > 0 {
            blocks.removeLast()
        }
        if let last = blocks.indices.last {
            blocks[last].removeLast(blocks[last].count - (index - base - last * Self.blockCount))
        }
    }

    /// The first segment for which `isBeyond` holds, which must hold for all behind it too; ``endIndex`` if there is none.
    ///
    /// - Complexity: O(log *n*).
    func firstIndex(where isBeyond: (SegmentReference) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
