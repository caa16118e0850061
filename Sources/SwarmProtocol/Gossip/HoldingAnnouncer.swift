public import CoreModel

/// Turns what the segment store holds into have frames.
///
/// Tell it of each change with ``update(root:verified:expected:isComplete:)`` and ``remove(root:)``. Each change makes a new
/// ``version``; ``frames(since:)`` gives a link what has changed since the version that it was told last, so that a link
/// costs one number and can be told whenever its turn comes. Bounded by the store: one state for each root that it holds,
/// and one for each that it lost until every link knows.
public struct HoldingAnnouncer: Sendable {
    /// What is held of a segment.
    private struct Holding: Sendable {
        var verified = ChunkSet()
        var expected = ChunkSet()
        var isComplete = false
        /// The version in which this came about.
        var version: UInt64 = 0
        /// The version in which something came to be held of what nobody had been told of.
        var heldSince: UInt64 = 0
        var isEmpty: Bool { !isComplete && verified.isEmpty && expected.isEmpty }

        func isSame(as other: Holding) -> Bool {
            isComplete == other.isComplete && verified == other.verified && expected == other.expected
        }
    }

    /// Bytes of entries after which a frame is closed, so that it doesn't hold up other frames.
    private static let frameByteCount = 8192

    /// The number of changes so far.
    public private(set) var version: UInt64 = 0

    private var current: [Digest: Holding] = [:]
    /// The roots by their last change, ascending; those whose version is another by now are further behind.
    private var changes: [(version: UInt64, root: Digest)] = []

    /// Starts with nothing held.
    public init() {}

    /// Takes note of what is held of a segment now.
    ///
    /// - Parameters:
    ///   - verified: Chunks that can be uploaded; nothing is announced before it is verified.
    ///   - expected: Chunks that are being fetched from where they will surely come.
    ///   - isComplete: Whether `verified` is all of them.
    public mutating func update(root: Digest, verified: ChunkSet, expected: ChunkSet, isComplete: Bool) {
        var holding = Holding(isComplete: true)
        if !isComplete {
            holding = Holding(verified: verified, expected: expected)
            holding.expected.subtract(verified)
        }
        let old = current[root]
        guard !holding.isSame(as: old ?? Holding()) else { return }
        version += 1
        holding.version = version
        holding.heldSince = old?.heldSince ?? version
        current[root] = holding
        if let last = changes.indices.last, changes[last].root == root {
            changes[last].version = version
        } else {
            changes.append((version, root))
        }
        if changes.count > 2 * current.count + 64 {
            changes.removeAll { current[$0.root]?.version != $0.version }
        }
    }

    /// Takes note that nothing is held of a segment any more.
    public mutating func remove(root: Digest) {
        update(root: root, verified: ChunkSet(), expected: ChunkSet(), isComplete: false)
    }

    /// Whether the last change was the first of this root.
    public func isNew(_ root: Digest) -> Bool { current[root]?.heldSince == version }

    /// Every link has been told of this version: what was lost before it need not be remembered.
    public mutating func forgetLost(upTo version: UInt64) {
        guard current.contains(where: { $0.value.isEmpty && $0.value.version <= version }) else { return }
        changes.removeAll { change in
            guard let holding = current[change.root] else { return true }
            return holding.version != change.version || holding.isEmpty && holding.version <= version
        }
        current = current.filter { !$0.value.isEmpty || $0.value.version > version }
    }

    /// The roots that changed since a version, the latest change first.
    public func roots(since version: UInt64) -> [Digest] {
        var roots: [Digest] = []
        for change in changes.reversed() {
            guard change.version > version else { break }
            guard let holding = current[change.root], holding.version == change.version,
                !holding.isEmpty || holding.heldSince <= version
            else { continue }
            roots.append(change.root)
        }
        return roots
    }

    /// What a link is to be told that was told of `version` last, and of nothing before its first; in the order of the
    /// changes, cut into frames.
    public func frames(since version: UInt64) -> [[HaveEntry]] {
        var frames: [[HaveEntry]] = []
        var byteCount = 0
        for root in roots(since: version).reversed() {
            guard let holding = current[root] else { continue }
            let entry = HaveEntry(root: root, change: Self.change(to: holding))
            if frames.isEmpty || byteCount >= Self.frameByteCount
                || frames[frames.count - 1].count == WireLimits.haveEntryCount
            {
                frames.append([])
                byteCount = 0
            }
            frames[frames.count - 1].append(entry)
            byteCount += entry.byteCount
        }
        return frames
    }

    private static func change(to new: Holding) -> HaveEntry.Change {
        if new.isComplete { return .complete }
        if new.isEmpty { return .lost }
        return .replace(verified: new.verified.firstRuns, expected: new.expected.firstRuns)
    }
}

extension ChunkSet {
    /// The first 64 runs: as much as an entry can say.
    fileprivate var firstRuns: [Range<Int>] { Array(ranges.prefix(WireLimits.haveRangeCount)) }
}
