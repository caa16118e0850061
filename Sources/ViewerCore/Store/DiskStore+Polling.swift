public import CoreModel
public import Scheduling

/// What is done next, and what became of it.
extension DiskStore {
    /// Gives the next thing to do. What is told comes before what is done.
    ///
    /// - Parameter isAwaited: Whether any peer waits for any of these chunks now.
    public mutating func poll(
        now: MonotonicInstant, isAwaited: (SegmentID, Range<Int>) -> Bool
    ) -> Output {
        if let event = nextEvent() { return event }
        guard !isOff, active == nil else { return .wait(until: nil) }
        if let next = nextOperation(now: now, isAwaited) {
            active = next
            events.append(.perform(next.operation))
        }
        // To make room may have cost something.
        if let event = nextEvent() { return event }
        return .wait(until: wants.isEmpty ? nil : residents.first.map { $0.readAt.advanced(by: Self.residence) })
    }

    private mutating func nextEvent() -> Output? {
        guard eventIndex < events.count else {
            events.removeAll()
            eventIndex = 0
            return nil
        }
        eventIndex += 1
        return events[eventIndex - 1]
    }

    /// The operation under way has ended.
    public mutating func ended(_ outcome: Outcome, now: MonotonicInstant) {
        guard let ended = active.take() else { return }
        switch (ended.operation, outcome) {
        case (.measure, .measured(let free, let others, let sessions)):
            measured(freeByteCount: free, othersByteCount: others, sessionCount: sessions)
        case (.measure, _): stopWriting(now: now)
        case (.truncate(let byteCount), .done): filePageCount = byteCount / DiskLayout.pageByteCount
        // A file that can't be made shorter takes more than it may.
        case (.truncate, _): giveUp()
        case (.write(let id, let run), .done): wrote(id, run, ended)
        case (.write, _): stopWriting(now: now)
        case (.read(let id, let run), .done): didRead(id, run, ended, now: now)
        case (.read(let id, _), _):
            guard entries[id]?.serial == ended.serial else { return }
            lose(id)
            failureCount += 1
            if failureCount >= Self.failureLimit { giveUp() }
        }
    }

    // MARK: Choosing

    private mutating func nextOperation(
        now: MonotonicInstant, _ isAwaited: (SegmentID, Range<Int>) -> Bool
    ) -> Active? {
        if let next = nextPlay() { return next }
        if filePageCount > layout.limit {
            return Active(
                operation: .truncate(byteCount: layout.limit * DiskLayout.pageByteCount), purpose: .space, serial: 0)
        }
        if isMeasureDue, filePageCount > 0 { return Active(operation: .measure, purpose: .space, serial: 0) }
        if isWritingsTurn {
            isWritingsTurn = false
            return nextWrite(now: now) ?? nextRead(now: now, isAwaited)
        }
        return nextRead(now: now, isAwaited) ?? nextWrite(now: now)
    }

    private func nextPlay() -> Active? {
        for play in plays {
            guard let entry = entries[play.id],
                let run = entry.run(from: play.chunk, below: min(play.chunk + Self.blockChunkCount, entry.chunkCount))
            else { continue }
            return Active(operation: .read(play.id, run), purpose: .playback, serial: entry.serial)
        }
        return nil
    }

    /// Reads for peers, when there is room in memory.
    private mutating func nextRead(
        now: MonotonicInstant, _ isAwaited: (SegmentID, Range<Int>) -> Bool
    ) -> Active? {
        while let want = wants.first, !isAwaited(want.id, want.chunks) { wants.removeFirst() }
        guard let want = wants.first, let entry = entries[want.id],
            let run = entry.run(from: want.next, below: want.chunks.upperBound)
        else { return nil }
        if want.next == want.chunks.lowerBound {
            residents.removeAll { $0.id == want.id && $0.chunks.clamped(to: want.chunks) == $0.chunks }
            let byteCount = want.chunks.count * DiskLayout.pageByteCount
            while !residents.isEmpty, readBackByteCount + byteCount > residentLimit {
                let place = residents.firstIndex { resident in
                    resident.readAt.advanced(by: Self.residence) <= now || !isAwaited(resident.id, resident.chunks)
                }
                guard let place else { return nil }
                let resident = residents.remove(at: place)
                events.append(.unload(resident.id, chunks: resident.chunks))
            }
            residents.append(Resident(id: want.id, chunks: want.chunks, readAt: now))
        }
        isWritingsTurn = true
        return Active(operation: .read(want.id, run), purpose: .peers, serial: entry.serial)
    }

    private mutating func nextWrite(now: MonotonicInstant) -> Active? {
        guard let id = queue.first, let entry = entries[id] else { return nil }
        if entry.pages.isEmpty {
            guard isMeasured else {
                return Active(operation: .measure, purpose: .space, serial: 0)
            }
            isMeasured = false
            guard let pages = makeRoom(for: entry.chunkCount) else {
                stopWriting(now: now)
                return nil
            }
            entries[id]?.pages = pages
        }
        guard let entry = entries[id],
            let run = entry.run(
                from: entry.writtenCount, below: min(entry.writtenCount + Self.blockChunkCount, entry.chunkCount))
        else { return nil }
        // From now on the file may reach there, whether the write succeeds or not.
        filePageCount = max(filePageCount, run.offset / DiskLayout.pageByteCount + run.chunks.count)
        return Active(operation: .write(id, run), purpose: .writing, serial: entry.serial)
    }

    /// Takes pages, for which the oldest segments go; `nil` when there are not so many.
    private mutating func makeRoom(for count: Int) -> [Range<Int>]? {
        guard count <= layout.limit else { return nil }
        while true {
            if let pages = layout.allocate(count) { return pages }
            // What is being played is of more use than what is behind.
            guard let oldest = order.first(where: { id in !plays.contains { $0.id == id } }) else { return nil }
            lose(oldest)
        }
    }

    // MARK: Outcomes

    /// Takes a new bound from what is free: all sessions' files together take a tenth of it at most, each the same part.
    private mutating func measured(freeByteCount: Int, othersByteCount: Int, sessionCount: Int) {
        isMeasured = true
        isMeasureDue = false
        let shared = freeByteCount / Self.freeDivisor
        let allowed = max(0, min(shared / max(1, sessionCount), shared - othersByteCount))
        let limit = min(byteCountLimit, allowed) / DiskLayout.pageByteCount
        for id in order + queue where entries[id]?.pages.contains(where: { $0.upperBound > limit }) == true { lose(id) }
        layout.setLimit(limit)
    }

    /// The disk takes nothing for a while: what waits to be written is not written.
    private mutating func stopWriting(now: MonotonicInstant) {
        pausedUntil = now.advanced(by: Self.pause)
        isMeasured = false
        isMeasureDue = false
        for id in queue { lose(id) }
    }

    private mutating func wrote(_ id: SegmentID, _ run: DiskRun, _ ended: Active) {
        guard entries[id]?.serial == ended.serial else { return }
        entries[id]?.writtenCount = run.chunks.upperBound
        guard entries[id]?.isWhole == true else { return }
        queue.removeAll { $0 == id }
        order.append(id)
        events.append(.moved(id))
    }

    private mutating func didRead(_ id: SegmentID, _ run: DiskRun, _ ended: Active, now: MonotonicInstant) {
        guard entries[id]?.serial == ended.serial else { return }
        switch ended.purpose {
        case .playback: plays.removeAll { $0.id == id && run.chunks.contains($0.chunk) }
        case .peers:
            guard let index = wants.firstIndex(where: { $0.id == id && $0.next == run.chunks.lowerBound }) else {
                return
            }
            wants[index].next = run.chunks.upperBound
            guard wants[index].next == wants[index].chunks.upperBound else { return }
            let want = wants.remove(at: index)
            // Its time begins now.
            guard let place = residents.lastIndex(where: { $0.id == id && $0.chunks == want.chunks }) else { return }
            residents[place].readAt = now
        case .space, .writing: break
        }
    }
}
