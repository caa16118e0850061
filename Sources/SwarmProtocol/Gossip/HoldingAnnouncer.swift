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
        var extent: Extent { isComplete ? .all : isEmpty ? .nothing : .part }
    }

    /// The time between two frames.
    public static let interval: Duration = .milliseconds(500)

    /// Bytes of entries after which a frame is closed, so that it doesn't hold up other frames.
    private static let frameByteCount = 8192

    /// How much of a segment is held or has been announced.
    private enum Extent: UInt8 { case nothing, part, all }

    /// A root of which something is held or has been announced.
    private struct Entry: Sendable {
        let root: Digest
        var current = Extent.nothing
        var announced = Extent.nothing
        /// It is among `changed`.
        var isChanged = false
    }

    /// What is held in part, or has been announced so: of the few segments that are coming in.
    private struct Part: Sendable {
        let root: Digest
        var current = Holding()
        var announced = Holding()
    }

    /// In the order in which they were first held, which is that of their announcement and of the snapshot.
    private var entries: [Entry] = []
    /// The first words of the entries' roots, which are this side's own: what is looked for is mostly at the end.
    private var words: [UInt64] = []
    private var parts: [Part] = []
    /// Roots that changed since the last frame, in order.
    private var changed: [Digest] = []
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
        guard let index = index(of: root) ?? insert(root, holding) else { return }
        set(holding, at: index)
        guard !entries[index].isChanged else { return }
        entries[index].isChanged = true
        changed.append(root)
    }

    private func index(of root: Digest) -> Int? {
        var index = words.count
        while index > 0 {
            index -= 1
            if words[index] == root.value.words.0, entries[index].root == root { return index }
        }
        return nil
    }

    private mutating func insert(_ root: Digest, _ holding: Holding) -> Int? {
        guard !holding.isEmpty else { return nil }
        entries.append(Entry(root: root))
        words.append(root.value.words.0)
        return entries.count - 1
    }

    private func part(of root: Digest) -> Int? {
        for place in parts.indices where parts[place].root == root { return place }
        return nil
    }

    /// What is held of an entry's segment.
    private func current(_ index: Int) -> Holding? {
        switch entries[index].current {
        case .nothing: nil
        case .all: Holding(isComplete: true)
        case .part: part(of: entries[index].root).map { parts[$0].current }
        }
    }

    /// What has been announced of it.
    private func announced(_ index: Int) -> Holding? {
        switch entries[index].announced {
        case .nothing: nil
        case .all: Holding(isComplete: true)
        case .part: part(of: entries[index].root).map { parts[$0].announced }
        }
    }

    private mutating func set(_ holding: Holding, at index: Int) {
        entries[index].current = holding.extent
        let root = entries[index].root
        if let place = part(of: root) {
            parts[place].current = holding
        } else if holding.extent == .part {
            parts.append(Part(root: root, current: holding))
        }
        forgetPart(of: index)
    }

    /// What is held has been announced.
    private mutating func noteAnnounced(_ index: Int) {
        entries[index].announced = entries[index].current
        if let place = part(of: entries[index].root) { parts[place].announced = parts[place].current }
        forgetPart(of: index)
    }

    private mutating func forgetPart(of index: Int) {
        guard entries[index].current != .part, entries[index].announced != .part else { return }
        if let place = part(of: entries[index].root) { parts.remove(at: place) }
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
            guard let index = index(of: root) else { continue }
            self.entries[index].isChanged = false
            let change = Self.change(from: announced(index), to: current(index))
            noteAnnounced(index)
            if self.entries[index].current == .nothing {
                self.entries.remove(at: index)
                words.remove(at: index)
            }
            guard let change else { continue }
            let entry = HaveEntry(root: root, change: change)
            entries.append(entry)
            byteCount += entry.byteCount
        }
        changed.removeFirst(taken)
        if !entries.isEmpty { nextFrame = now.advanced(by: Self.interval) }
        return entries
    }

    /// When ``poll(now:)`` has something; `nil` before the next change.
    public var nextDeadline: MonotonicInstant? { changed.isEmpty ? nil : nextFrame }

    /// What has been announced so far, cut into frames.
    public var snapshot: [[HaveEntry]] {
        let entries = entries.indices.compactMap { index in
            Self.change(from: nil, to: announced(index)).map {
                HaveEntry(root: self.entries[index].root, change: $0)
            }
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
