public import CoreModel

/// Turns what the segment store holds into have frames.
///
/// Tell it of each change with ``update(root:verified:expected:isComplete:)`` and ``remove(root:)``. Each change makes a new
/// ``version``; ``frames(since:)`` gives a link what has changed since the version that it was told last, so that a link
/// costs one number and can be told whenever its turn comes. Bounded by the store: one state for each root that it holds,
/// and one for each that it lost until every link knows.
public struct HoldingAnnouncer: Sendable {
    /// How much of a segment is held.
    private enum Extent: UInt8 { case nothing, part, all }

    /// What is held of a segment, or was when some link was told last.
    private struct Entry: Sendable {
        let root: Digest
        /// The version in which this came about.
        var version: UInt32
        /// The version in which something came to be held of what nobody had been told of.
        let heldSince: UInt32
        var extent: Extent
    }

    /// What is held in part: of the few segments that are coming in.
    private struct Part: Sendable {
        let root: Digest
        var verified: ChunkSet
        var expected: ChunkSet
    }

    /// Bytes of entries after which a frame is closed, so that it doesn't hold up other frames.
    private static let frameByteCount = 8192

    /// The number of changes so far.
    public private(set) var version: UInt32 = 0

    /// By their version: what changes is mostly at the end.
    private var entries: [Entry] = []
    private var parts: [Part] = []

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
        let extent: Extent = isComplete ? .all : verified.isEmpty && expected.isEmpty ? .nothing : .part
        let index = entries.lastIndex { $0.root == root }
        guard extent != .nothing || index != nil else { return }
        if let index, entries[index].extent == extent {
            guard extent == .part, let part = part(of: root) else { return }
            guard parts[part].verified != verified || parts[part].expected != expected else { return }
        }
        version += 1
        var entry = Entry(root: root, version: version, heldSince: version, extent: extent)
        if let index {
            entry = entries.remove(at: index)
            entry.version = version
            entry.extent = extent
        }
        entries.append(entry)
        let part = part(of: root)
        if extent == .part {
            let new = Part(root: root, verified: verified, expected: expected)
            if let part { parts[part] = new } else { parts.append(new) }
        } else if let part {
            parts.remove(at: part)
        }
    }

    private func part(of root: Digest) -> Int? { parts.firstIndex { $0.root == root } }

    /// Takes note that nothing is held of a segment any more.
    public mutating func remove(root: Digest) {
        update(root: root, verified: ChunkSet(), expected: ChunkSet(), isComplete: false)
    }

    /// Whether the last change was the first of this root.
    public func isNew(_ root: Digest) -> Bool {
        entries.last.map { $0.root == root && $0.heldSince == version } ?? false
    }

    /// Every link has been told of this version: what was lost before it need not be remembered.
    public mutating func forgetLost(upTo version: UInt32) {
        entries.removeAll { $0.extent == .nothing && $0.version <= version }
    }

    /// Whether something has changed since a version of a root that is not among `known`.
    func hasChanged(since version: UInt32, besides known: CompleteRoots) -> Bool {
        // By index, and from the latest change on: every announcement asks this for every link.
        var index = entries.count
        while index > 0, entries[index - 1].version > version {
            index -= 1
            if isTold(index, since: version), !known.contains(entries[index].root) { return true }
        }
        return false
    }

    /// What came and went meanwhile is not spoken of.
    private func isTold(_ index: Int, since version: UInt32) -> Bool {
        entries[index].extent != .nothing || entries[index].heldSince <= version
    }

    /// In the order of the changes.
    private func entriesChanged(since version: UInt32) -> Range<Int> {
        var first = entries.count
        while first > 0, entries[first - 1].version > version { first -= 1 }
        return first..<entries.count
    }

    /// What a link is to be told that was told of `version` last, and of nothing before its first; in the order of the
    /// changes, as the bytes of have frames: every announcement to every link is made here.
    public func frames(since version: UInt32) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var frame = WireWriter(capacity: 0)
        var count = 0
        func close() {
            let body = frame.byteCount - WireLimits.frameHeaderByteCount
            precondition(body <= WireLimits.bodyByteCount, "a have frame of \(body) bytes")
            frame.replace(at: 1, with: UInt16(body))
            frame.replace(at: WireLimits.frameHeaderByteCount, with: UInt16(count))
            frames.append(frame.bytes)
        }
        for index in entriesChanged(since: version) where isTold(index, since: version) {
            if count == WireLimits.haveEntryCount || frame.byteCount >= Self.frameByteCount + Self.headerByteCount {
                close()
                count = 0
            }
            if count == 0 {
                frame = WireWriter(capacity: 128)
                frame.integer(FrameType.have.rawValue)
                // The lengths come when they are known.
                frame.integer(UInt32(0))
            }
            write(entries[index], to: &frame)
            count += 1
        }
        if count > 0 { close() }
        return frames
    }

    /// Bytes of a have frame before its first entry.
    private static let headerByteCount = WireLimits.frameHeaderByteCount + 2

    private func write(_ entry: Entry, to frame: inout WireWriter) {
        frame.append(entry.root)
        switch entry.extent {
        case .all: HaveEntry.writeComplete(to: &frame)
        case .part:
            guard let part = part(of: entry.root) else { fallthrough }
            HaveEntry.writeReplacing(parts[part].verified, parts[part].expected, to: &frame)
        case .nothing: HaveEntry.writeLost(to: &frame)
        }
    }
}
