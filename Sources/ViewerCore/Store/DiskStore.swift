public import CoreModel
public import Scheduling

/// The part of a viewer's segment store that lies in a file: what is where, what is read and written next, and what has to
/// go.
///
/// After each call that changes it, call ``poll(now:)`` until it returns `.wait`, then do nothing before the next call or
/// the given instant. One operation is under way at a time, whose end ``ended(_:now:)`` tells, so the space of what is
/// dropped meanwhile can be given to others at once, and a disk that hangs holds one thread.
///
/// Segments are written whole and in the order in which they leave the memory, and the oldest goes when there is no room.
/// What is read comes in parts: for playback one after the other from where it stands, in blocks of up to 64 chunks
/// (1 MiB), before all else; for peers what they ask for and no more. That stays in memory, within a quarter of it, while
/// no other needs its place, and while a peer waits for it, but then for two seconds at most: many requests at a time make
/// peers wait and not the disk go round. What no peer waits for any more isn't read.
public struct DiskStore: Sendable {
    /// What the driver does next, one thing at a time.
    public enum Operation: Sendable, Hashable {
        /// Make the file, unless it is there, and see how much is free:
        /// ``Outcome/measured(freeByteCount:othersByteCount:sessionCount:)``.
        case measure
        /// Write chunks of a segment, which is in memory.
        case write(SegmentID, DiskRun)
        /// Read chunks of a segment, verify them, and have them in memory.
        case read(SegmentID, DiskRun)
        /// Make the file shorter.
        case truncate(byteCount: Int)
    }

    /// What an operation came to.
    public enum Outcome: Sendable, Hashable {
        /// This much may be written by this user beside what is there, so much is in other sessions' files, and so many
        /// sessions have one, this one included.
        case measured(freeByteCount: Int, othersByteCount: Int, sessionCount: Int)
        case done
        /// It failed, or what was read is not what was written.
        case failed
    }

    /// What there is to do.
    public enum Output: Sendable, Hashable {
        case perform(Operation)
        /// The segment is on the disk whole: its memory can be given back.
        case moved(SegmentID)
        /// What was read for peers leaves the memory; it is still on the disk.
        case unload(SegmentID, chunks: Range<Int>)
        /// What peers wait for doesn't come soon: the disk takes too long.
        case refused(SegmentID, chunks: Range<Int>)
        /// The segment is not on the disk, or not any more. What of it is in memory stays.
        case lost(SegmentID)
        /// Nothing to do before this instant; `nil` when only a call can make progress.
        case wait(until: MonotonicInstant?)
    }

    /// A segment on the disk or on its way there.
    struct Entry: Sendable {
        /// Tells it from one of the same name that was there before.
        let serial: UInt64
        let chunkCount: Int
        /// Where it lies, from its writing on.
        var pages: [Range<Int>] = []
        var writtenCount = 0

        var isWhole: Bool { writtenCount == chunkCount }
        /// The memory that it takes.
        var byteCount: Int { chunkCount * DiskLayout.pageByteCount }

        /// The chunks from `chunk` on that lie together, up to `end`.
        func run(from chunk: Int, below end: Int) -> DiskRun? {
            var first = 0
            for run in pages {
                if chunk < first + run.count {
                    let upper = min(end, first + run.count)
                    guard chunk >= first, upper > chunk else { return nil }
                    let page = run.lowerBound + chunk - first
                    return DiskRun(chunks: chunk..<upper, offset: page * DiskLayout.pageByteCount)
                }
                first += run.count
            }
            return nil
        }
    }

    /// Chunks that a track's player waits for.
    struct Play: Sendable {
        let id: SegmentID
        var chunk: Int
        /// How often it was looked at since it was asked for.
        var ticks = 0
    }

    /// Chunks that peers wait for.
    struct Want: Sendable {
        let id: SegmentID
        let chunks: Range<Int>
        /// The next chunk to read.
        var next: Int
    }

    /// Chunks in memory that were read for peers.
    struct Resident: Sendable {
        let id: SegmentID
        let chunks: Range<Int>
        var readAt: MonotonicInstant
    }

    /// Who an operation under way is for.
    enum Purpose: Sendable { case playback, peers, space, writing }

    struct Active: Sendable {
        let operation: Operation
        let purpose: Purpose
        /// That of its segment's entry.
        let serial: UInt64
        var ticks = 0
    }

    /// The most that is written, or read for playback, at once, in chunks.
    static let blockChunkCount = 64
    /// How many times chunks are wanted by peers at most: a viewer has fewer links, and each waits for one.
    static let wantLimit = 64
    /// How long what a peer waits for stays in memory at least: longer than it waits for its turn to be sent.
    static let residence: Duration = .seconds(2)
    /// How often a read that playback waits for is looked at before its segment counts as lost: half a second of the
    /// session's ticks. Looks and not time, so that a process that was stopped for a while blames itself.
    static let patience = 5
    /// How long nothing is written after a failure, or where there is no room.
    static let pause: Duration = .seconds(30)
    /// Segments lost to failed reads after which the disk isn't used any more.
    static let failureLimit = 3
    /// The part of the free space that may be used: a tenth.
    static let freeDivisor = 10

    /// The most bytes that may lie on the disk.
    let byteCountLimit: Int
    /// The memory of what was read for peers, beside a single run of chunks.
    let residentLimit: Int
    /// The memory of segments that wait to be written, beside a single one.
    let movingLimit: Int

    var layout: DiskLayout
    var entries: [SegmentID: Entry] = [:]
    /// The whole segments, oldest first.
    var order: [SegmentID] = []
    /// Segments to write; the first one may be half written.
    var queue: [SegmentID] = []
    var plays: [Play] = []
    var wants: [Want] = []
    /// In the order in which they were read.
    var residents: [Resident] = []
    var active: Active?
    /// What is to be told, from ``eventIndex`` on.
    var events: [Output] = []
    var eventIndex = 0
    var nextSerial: UInt64 = 1
    /// Whether the free space was looked at for the segment that is written next.
    var isMeasured = false
    /// Whether other sessions came or went since the free space was looked at.
    var isMeasureDue = false
    /// Whether the last operation was a read for peers: writing has its turn then.
    var isWritingsTurn = false
    var pausedUntil = MonotonicInstant.origin
    var failureCount = 0
    /// Pages that the file has on the disk, used or not.
    var filePageCount = 0
    /// Whether the disk is used at all.
    public internal(set) var isOff = false

    /// Starts with nothing on the disk and no file.
    ///
    /// - Parameters:
    ///   - byteCount: The most bytes on the disk.
    ///   - memoryByteCount: The memory of the whole store.
    public init(byteCount: Int, memoryByteCount: Int) {
        byteCountLimit = byteCount
        residentLimit = MemoryRelief.share(of: memoryByteCount)
        movingLimit = MemoryRelief.share(of: memoryByteCount)
        layout = DiskLayout(limit: byteCount / DiskLayout.pageByteCount)
    }

    // MARK: What is there

    /// Whether the whole segment is on the disk.
    public func holds(_ id: SegmentID) -> Bool { entries[id]?.isWhole == true }

    /// Whether a chunk is on the disk.
    public func holds(_ id: SegmentID, chunk: Int) -> Bool {
        entries[id].map { $0.isWhole && 0..<$0.chunkCount ~= chunk } ?? false
    }

    /// Whether a segment of so many chunks can ever lie on the disk.
    public func hasRoom(chunkCount: Int) -> Bool {
        chunkCount > 0 && chunkCount <= byteCountLimit / DiskLayout.pageByteCount
    }

    /// Whether the segment is on its way there.
    public func isMoving(_ id: SegmentID) -> Bool { entries[id]?.isWhole == false }

    /// Whether parts of it were read for peers, and are in memory on that account.
    public func isReadBack(_ id: SegmentID) -> Bool { residents.contains { $0.id == id } }

    /// The memory of what is on its way.
    public var movingByteCount: Int { queue.reduce(0) { $0 + (entries[$1]?.byteCount ?? 0) } }

    /// The memory of what was read for peers.
    public var readBackByteCount: Int { residents.reduce(0) { $0 + $1.chunks.count * DiskLayout.pageByteCount } }

    /// The length of the file.
    public var fileByteCount: Int { filePageCount * DiskLayout.pageByteCount }

    /// Whether segments can be moved there now.
    public func isAccepting(now: MonotonicInstant) -> Bool { !isOff && !isStuck && now >= pausedUntil }

    /// Whether an operation takes so long that the disk can't be relied on.
    var isStuck: Bool { active.map { $0.ticks >= Self.patience } ?? false }

    // MARK: Calls

    /// Moves a whole and verified segment, which stays in memory until ``Output/moved(_:)``, to the disk.
    ///
    /// - Returns: false when it can't go there: too much is on its way already, or the disk has failed lately.
    public mutating func move(_ id: SegmentID, chunkCount: Int, now: MonotonicInstant) -> Bool {
        let entry = Entry(serial: nextSerial, chunkCount: chunkCount)
        guard isAccepting(now: now), hasRoom(chunkCount: chunkCount), entries[id] == nil else { return false }
        let moving = movingByteCount
        guard moving == 0 || moving + entry.byteCount <= movingLimit else { return false }
        nextSerial += 1
        entries[id] = entry
        queue.append(id)
        return true
    }

    /// A peer waits for chunks that are on the disk and not in memory.
    ///
    /// - Returns: false when they can't be had from here in time.
    public mutating func want(_ id: SegmentID, chunks: Range<Int>) -> Bool {
        guard !chunks.isEmpty, chunks.lowerBound >= 0, holds(id, chunk: chunks.upperBound - 1), !isStuck else {
            return false
        }
        guard !wants.contains(where: { $0.id == id && chunks.clamped(to: $0.chunks) == chunks }) else { return true }
        guard wants.count < Self.wantLimit else { return false }
        wants.append(Want(id: id, chunks: chunks, next: chunks.lowerBound))
        return true
    }

    /// A track's player waits for a chunk that is on the disk and not in memory; for nothing else of that track from now
    /// on. What is in memory of the segment stays there until it is unloaded with the rest.
    public mutating func play(_ id: SegmentID, from chunk: Int) {
        guard let entry = entries[id], entry.isWhole, 0..<entry.chunkCount ~= chunk else { return }
        residents.removeAll { $0.id == id }
        if plays.contains(where: { $0.id == id && $0.chunk == chunk }) { return }
        stopPlaying(track: id.track)
        guard !isStuck else { return lose(id) }
        plays.append(Play(id: id, chunk: chunk))
    }

    /// A track's player is elsewhere now.
    public mutating func stopPlaying(track: Int) { plays.removeAll { $0.id.track == track } }

    /// The whole of a segment's memory was given back.
    public mutating func unloaded(_ id: SegmentID) { residents.removeAll { $0.id == id } }

    /// A segment isn't shared any more: it is forgotten, and nothing more is told of it.
    public mutating func discard(_ id: SegmentID) {
        remove(id)
        events.removeFirst(eventIndex)
        eventIndex = 0
        events.removeAll { output in
            switch output {
            case .moved(id), .lost(id), .unload(id, _), .refused(id, _): true
            case .moved, .lost, .unload, .refused, .perform, .wait: false
            }
        }
    }

    /// The disk isn't used any more, and all that is there lost.
    public mutating func giveUp() {
        guard !isOff else { return }
        isOff = true
        for id in order + queue { events.append(.lost(id)) }
        (entries, order, queue, plays, wants, residents) = ([:], [], [], [], [], [])
        layout = DiskLayout(limit: 0)
    }

    /// Another session has come to share the free space, or has gone: the file's bound is another now.
    public mutating func sharesChanged() { isMeasureDue = true }

    /// Looks at what takes time; ten times a second.
    public mutating func tick() {
        active?.ticks += 1
        for index in plays.indices { plays[index].ticks += 1 }
        for play in plays where play.ticks >= Self.patience { lose(play.id) }
        guard isStuck else { return }
        for want in wants { events.append(.refused(want.id, chunks: want.chunks)) }
        wants = []
    }

    // MARK: Helpers

    /// Drops a segment and tells so.
    mutating func lose(_ id: SegmentID) {
        remove(id)
        events.append(.lost(id))
    }

    private mutating func remove(_ id: SegmentID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        layout.release(entry.pages)
        if entry.isWhole { order.removeAll { $0 == id } } else { queue.removeAll { $0 == id } }
        plays.removeAll { $0.id == id }
        wants.removeAll { $0.id == id }
        residents.removeAll { $0.id == id }
    }
}

/// Chunks of a segment that lie together in the file.
public struct DiskRun: Sendable, Hashable {
    /// The chunks.
    public var chunks: Range<Int>
    /// Where the first one begins, in bytes.
    public var offset: Int

    /// Describes a run.
    public init(chunks: Range<Int>, offset: Int) {
        self.chunks = chunks
        self.offset = offset
    }
}
