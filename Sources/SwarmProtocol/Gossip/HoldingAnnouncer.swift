public import CoreModel

/// Turns what the segment store holds into have frames: changes only, and two frames a second at most.
///
/// Tell it of each change with ``update(root:verified:expected:isComplete:)`` and ``remove(root:)``; ``poll(now:)`` gives
/// the entries to send to every link when it is time. A new link gets ``snapshot`` first: what has been announced so far,
/// so that the later changes fit. Bounded by the store: one state for each root that it holds.
public struct HoldingAnnouncer: Sendable {
    /// What is held of a segment.
    private struct Holding: Hashable, Sendable {
        var verified = ChunkSet()
        var expected = ChunkSet()
        var isComplete = false
        var isEmpty: Bool { !isComplete && verified.isEmpty && expected.isEmpty }
    }

    /// The time between two frames.
    public static let interval: Duration = .milliseconds(500)

    /// Bytes of entries after which a frame is closed, so that it doesn't hold up other frames.
    private static let frameByteCount = 8192

    private var current: [Digest: Holding] = [:]
    private var announced: [Digest: Holding] = [:]
    /// Roots of what has been announced, oldest first; the order of the snapshot.
    private var announcedOrder: [Digest] = []
    /// Roots that changed since the last frame, in order.
    private var changed: [Digest] = []
    private var changedSet: Set<Digest> = []
    private var nextFrame: MonotonicInstant = .origin

    /// Starts with nothing held.
    public init() {}

    /// Takes note of what is held of a segment now.
    ///
    /// - Parameters:
    ///   - verified: Chunks that can be uploaded; nothing is announced before it is verified.
    ///   - expected: Chunks that are being fetched from where they will surely come.
    ///   - isComplete: Whether `verified` is all of them.
    public mutating func update(root: Digest, verified: ChunkSet, expected: ChunkSet, isComplete: Bool) {
        var expected = expected
        expected.subtract(verified)
        let holding =
            isComplete
            ? Holding(isComplete: true)
            : Holding(verified: verified.firstRuns, expected: expected.firstRuns, isComplete: false)
        if holding.isEmpty {
            current[root] = nil
        } else {
            current[root] = holding
        }
        if changedSet.insert(root).inserted { changed.append(root) }
    }

    /// Takes note that nothing is held of a segment any more.
    public mutating func remove(root: Digest) {
        update(root: root, verified: ChunkSet(), expected: ChunkSet(), isComplete: false)
    }

    /// The entries to send to every link now; empty when it is not time or nothing changed.
    public mutating func poll(now: MonotonicInstant) -> [HaveEntry] {
        guard !changed.isEmpty, now >= nextFrame else { return [] }
        var entries: [HaveEntry] = []
        var byteCount = 0
        var taken = 0
        while taken < changed.count, entries.count < WireLimits.haveEntryCount, byteCount < Self.frameByteCount {
            let root = changed[taken]
            taken += 1
            changedSet.remove(root)
            let (old, new) = (announced[root], current[root])
            guard let change = Self.change(from: old, to: new) else { continue }
            let entry = HaveEntry(root: root, change: change)
            entries.append(entry)
            byteCount += entry.byteCount
            announced[root] = new
            if old == nil { announcedOrder.append(root) }
            if new == nil { announcedOrder.removeAll { $0 == root } }
        }
        changed.removeFirst(taken)
        if !entries.isEmpty { nextFrame = now.advanced(by: Self.interval) }
        return entries
    }

    /// When ``poll(now:)`` has something; `nil` before the next change.
    public var nextDeadline: MonotonicInstant? { changed.isEmpty ? nil : nextFrame }

    /// What has been announced so far, cut into frames.
    public var snapshot: [[HaveEntry]] {
        let entries = announcedOrder.compactMap { root in
            Self.change(from: nil, to: announced[root]).map { HaveEntry(root: root, change: $0) }
        }
        var frames: [[HaveEntry]] = []
        var byteCount = Self.frameByteCount
        for entry in entries {
            if byteCount >= Self.frameByteCount || frames[frames.count - 1].count == WireLimits.haveEntryCount {
                frames.append([])
                byteCount = 0
            }
            frames[frames.count - 1].append(entry)
            byteCount += entry.byteCount
        }
        return frames
    }

    private static func change(from old: Holding?, to new: Holding?) -> HaveEntry.Change? {
        guard old != new else { return nil }
        guard let new else { return .lost }
        if new.isComplete { return .complete }
        guard let old, !old.isComplete else {
            return .replace(verified: new.verified.ranges, expected: new.expected.ranges)
        }
        var verifiedLost = old.verified
        verifiedLost.subtract(new.verified)
        var expectedLost = old.expected
        expectedLost.subtract(new.expected)
        expectedLost.subtract(new.verified)
        var verified = new.verified
        verified.subtract(old.verified)
        var expected = new.expected
        expected.subtract(old.expected)
        let (added, awaited) = (verified.ranges, expected.ranges)
        guard verifiedLost.isEmpty, expectedLost.isEmpty,
            max(added.count, awaited.count) <= WireLimits.haveRangeCount
        else { return .replace(verified: new.verified.ranges, expected: new.expected.ranges) }
        return .add(verified: added, expected: awaited)
    }
}

extension ChunkSet {
    /// The set without what lies behind its 64th run: as much as an entry can say.
    fileprivate var firstRuns: ChunkSet {
        let runs = ranges
        guard runs.count > WireLimits.haveRangeCount else { return self }
        var set = ChunkSet()
        for run in runs.prefix(WireLimits.haveRangeCount) { set.insert(run) }
        return set
    }
}
