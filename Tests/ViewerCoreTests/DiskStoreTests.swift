import CoreModel
import Scheduling
import Testing
@testable import ViewerCore

/// What the store's disk decides, without a disk.
@Suite struct DiskStoreTests {
    private static let page = SegmentGeometry.chunkByteCount

    /// A store and what it says, with a disk on which everything succeeds at once unless a test says otherwise.
    private struct Bench {
        var store: DiskStore
        var now = MonotonicInstant.origin
        /// What was told, operations included.
        var said: [DiskStore.Output] = []
        var freeByteCount = 1 << 40
        var (othersByteCount, sessionCount) = (0, 1)
        /// What peers wait for.
        var awaits: (SegmentID, Range<Int>) -> Bool = { _, _ in true }
        /// Operations that are left open.
        var holds: (DiskStore.Operation) -> Bool = { _ in false }
        var fails: (DiskStore.Operation) -> Bool = { _ in false }
        var wakeAt: MonotonicInstant?

        init(pages: Int = 1000, memoryPages: Int = 1000) {
            store = DiskStore(byteCount: pages * page, memoryByteCount: memoryPages * page)
        }

        mutating func drain() {
            while true {
                let output = store.poll(now: now, isAwaited: awaits)
                if case .wait(let until) = output {
                    wakeAt = until
                    return
                }
                said.append(output)
                guard case .perform(let operation) = output, !holds(operation) else { continue }
                end(operation)
            }
        }

        mutating func end(_ operation: DiskStore.Operation) {
            let outcome: DiskStore.Outcome =
                if fails(operation) {
                    .failed
                } else if operation == .measure {
                    .measured(
                        freeByteCount: freeByteCount, othersByteCount: othersByteCount, sessionCount: sessionCount)
                } else {
                    .done
                }
            store.ended(outcome, now: now)
        }

        /// As the store's own, for `#expect`, which can't call what changes a value.
        mutating func move(_ id: SegmentID, chunkCount: Int, _ isTaken: Bool = true) {
            let result = store.move(id, chunkCount: chunkCount, now: now)
            #expect(result == isTaken)
        }

        mutating func want(_ id: SegmentID, _ chunks: Range<Int>, _ isTaken: Bool = true) {
            let result = store.want(id, chunks: chunks)
            #expect(result == isTaken)
        }

        mutating func says(_ outputs: [DiskStore.Output], sourceLocation: SourceLocation = #_sourceLocation) {
            let said = take()
            #expect(said == outputs, sourceLocation: sourceLocation)
        }

        mutating func take() -> [DiskStore.Output] {
            defer { said = [] }
            return said
        }

        /// Moves a segment; its operations aren't kept.
        mutating func put(_ index: Int, _ chunkCount: Int) {
            move(id(index), chunkCount: chunkCount)
            drain()
        }
    }

    private static func id(_ index: Int) -> SegmentID { SegmentID(track: 0, index: index) }
    private func id(_ index: Int) -> SegmentID { Self.id(index) }
    private func run(_ chunks: Range<Int>, page: Int) -> DiskRun { DiskRun(chunks: chunks, offset: page * Self.page) }

    @Test func aSegmentIsWrittenInBlocksAndIsThenThere() {
        var bench = Bench()
        bench.move(id(1), chunkCount: 100)
        #expect(bench.store.isMoving(id(1)) && !bench.store.holds(id(1)))
        bench.drain()
        bench.says([
            .perform(.measure), .perform(.write(id(1), run(0..<64, page: 0))),
            .perform(.write(id(1), run(64..<100, page: 64))), .moved(id(1)),
        ])
        #expect(bench.store.holds(id(1)) && bench.store.movingByteCount == 0)
        #expect(bench.store.fileByteCount == 100 * Self.page)
        bench.move(id(1), chunkCount: 100, false)
    }

    @Test func theOldestMakesRoomButNotWhatIsPlayed() {
        var bench = Bench(pages: 10)
        for index in 1...3 { bench.put(index, 3) }
        _ = bench.take()
        bench.holds = { if case .read = $0 { true } else { false } }
        bench.store.play(id(1), from: 0)
        bench.drain()
        _ = bench.take()
        // Its read is under way, and writing waits for it.
        bench.move(id(4), chunkCount: 4)
        bench.drain()
        bench.says([])
        bench.store.ended(.done, now: bench.now)
        bench.store.play(id(1), from: 2)
        bench.drain()
        bench.store.ended(.done, now: bench.now)
        bench.drain()
        let said = bench.take()
        #expect(said.contains(.lost(id(1))), "\(said)")  // Nobody waits for it any more.
        #expect(bench.store.holds(id(2)) && bench.store.holds(id(4)) && bench.store.fileByteCount <= 10 * Self.page)
    }

    @Test func theFileNeverGrowsBeyondItsBound() {
        var bench = Bench(pages: 100)
        for index in 0..<200 {
            bench.put(index, 3 + index % 17)
            #expect(bench.store.fileByteCount <= 100 * Self.page)
        }
        #expect(bench.store.holds(id(199)) && !bench.store.holds(id(0)))
        // Larger than all of it.
        bench.move(id(500), chunkCount: 101, false)
        #expect(!bench.store.hasRoom(chunkCount: 101) && bench.store.hasRoom(chunkCount: 100))
    }

    @Test func aTenthOfTheFreeSpaceIsTheMost() {
        var bench = Bench(pages: 1000)
        bench.freeByteCount = 200 * Self.page
        for index in 0..<10 { bench.put(index, 4) }
        #expect(bench.store.fileByteCount == 20 * Self.page)
        // Others fill the disk: the file is made smaller, and what lay behind is lost.
        _ = bench.take()
        bench.freeByteCount = 100 * Self.page
        bench.put(20, 4)
        let said = bench.take()
        #expect(said.contains(.perform(.truncate(byteCount: 10 * Self.page))), "\(said)")
        #expect(bench.store.fileByteCount <= 10 * Self.page)
        // No room at all: it is said, and tried again after a while.
        bench.freeByteCount = 0
        bench.put(21, 4)
        #expect(bench.said.contains(.lost(id(21))))
        bench.move(id(22), chunkCount: 1, false)
        bench.now = bench.now.advanced(by: .seconds(31))
        bench.freeByteCount = 200 * Self.page
        bench.put(23, 4)
        #expect(bench.store.holds(id(23)))
    }

    @Test func onlySoMuchIsOnItsWayAtATime() {
        var bench = Bench(memoryPages: 40)
        bench.holds = { _ in true }
        bench.move(id(1), chunkCount: 6)
        bench.move(id(2), chunkCount: 4)
        bench.move(id(3), chunkCount: 1, false)
    }

    @Test func peersGetWhatTheyAskForAndNoMore() {
        var bench = Bench()
        bench.put(1, 100)
        _ = bench.take()
        bench.want(id(1), 70..<71)
        bench.want(id(1), 8..<16)
        bench.want(id(1), 9..<11)  // On its way.
        bench.drain()
        bench.says([
            .perform(.read(id(1), run(70..<71, page: 70))), .perform(.read(id(1), run(8..<16, page: 8))),
        ])
        #expect(bench.store.isReadBack(id(1)) && bench.store.readBackByteCount == 9 * Self.page)
        bench.want(id(1), 99..<101, false)
        bench.want(id(3), 0..<1, false)
    }

    @Test func whatPeersWaitForKeepsItsPlaceForAWhile() {
        // Two runs of eight may be in memory.
        var bench = Bench(memoryPages: 4 * 16)
        bench.put(1, 100)
        _ = bench.take()
        for first in [0, 8, 16] { bench.want(id(1), first..<first + 8) }
        bench.drain()
        bench.says([
            .perform(.read(id(1), run(0..<8, page: 0))), .perform(.read(id(1), run(8..<16, page: 8))),
        ])
        // A slow uplink has sent neither.
        bench.now = bench.now.advanced(by: .milliseconds(1900))
        bench.drain()
        bench.says([])
        #expect(bench.wakeAt == MonotonicInstant.origin.advanced(by: DiskStore.residence))
        // The second one is sent.
        bench.awaits = { $1 != 8..<16 }
        bench.drain()
        bench.says([.unload(id(1), chunks: 8..<16), .perform(.read(id(1), run(16..<24, page: 16)))])
        // Nobody takes the first one.
        bench.want(id(1), 24..<32)
        bench.now = bench.now.advanced(by: .milliseconds(100))
        bench.drain()
        bench.says([.unload(id(1), chunks: 0..<8), .perform(.read(id(1), run(24..<32, page: 24)))])
    }

    @Test func whatNoPeerWaitsForAnyMoreIsNotRead() {
        var bench = Bench()
        bench.put(1, 100)
        _ = bench.take()
        for first in stride(from: 0, to: 64, by: 8) { bench.want(id(1), first..<first + 8) }
        bench.awaits = { $1 == 56..<64 }
        bench.drain()
        bench.says([.perform(.read(id(1), run(56..<64, page: 56)))])
    }

    @Test func peersAreToldThatADiskHangs() {
        var bench = Bench()
        bench.put(1, 100)
        _ = bench.take()
        bench.holds = { _ in true }
        bench.want(id(1), 0..<8)
        bench.want(id(1), 8..<16)
        bench.drain()
        for _ in 0..<10 { bench.store.tick() }
        bench.drain()
        bench.says([
            .perform(.read(id(1), run(0..<8, page: 0))), .refused(id(1), chunks: 0..<8),
            .refused(id(1), chunks: 8..<16),
        ])
        #expect(bench.store.holds(id(1)))
        bench.want(id(1), 0..<8, false)
        // It goes on.
        bench.store.ended(.done, now: bench.now)
        bench.want(id(1), 16..<24)
        bench.drain()
        bench.says([.perform(.read(id(1), run(16..<24, page: 16)))])
    }

    @Test func sessionsShareTheTenth() {
        var bench = Bench(pages: 1000)
        bench.freeByteCount = 200 * Self.page
        for index in 0..<10 { bench.put(index, 4) }
        #expect(bench.store.fileByteCount == 20 * Self.page)
        // A second one comes, which has nothing yet, and this one writes nothing.
        bench.sessionCount = 2
        bench.store.sharesChanged()
        bench.drain()
        #expect(bench.store.fileByteCount == 10 * Self.page)
        #expect(!bench.store.isMeasureDue && bench.store.holds(id(0)) == false)
        // The second one, while the first had all.
        var other = Bench(pages: 1000)
        other.freeByteCount = 200 * Self.page
        (other.othersByteCount, other.sessionCount) = (15 * Self.page, 2)
        for index in 0..<3 { other.put(index, 2) }
        #expect(other.store.fileByteCount == 4 * Self.page)
        other.othersByteCount = 10 * Self.page
        for index in 3..<10 { other.put(index, 2) }
        #expect(other.store.fileByteCount == 10 * Self.page)
    }

    @Test func aBlockInPiecesIsReadPieceByPiece() {
        var bench = Bench(pages: 30)
        for index in 0..<10 { bench.put(index, 3) }
        for index in [0, 2, 4] { bench.store.discard(id(index)) }
        bench.put(20, 8)
        _ = bench.take()
        bench.want(id(20), 0..<8)
        bench.drain()
        bench.says([
            .perform(.read(id(20), run(0..<3, page: 0))), .perform(.read(id(20), run(3..<6, page: 6))),
            .perform(.read(id(20), run(6..<8, page: 12))),
        ])
        bench.store.play(id(20), from: 4)
        bench.drain()
        bench.says([.perform(.read(id(20), run(4..<6, page: 7)))])
    }

    @Test func playbackComesFirst() {
        var bench = Bench()
        for index in 1...3 { bench.put(index, 10) }
        _ = bench.take()
        bench.holds = { _ in true }
        bench.want(id(1), 0..<10)
        bench.want(id(2), 0..<10)
        bench.move(id(4), chunkCount: 1)
        bench.drain()
        bench.store.play(id(3), from: 0)
        bench.store.ended(.done, now: bench.now)
        bench.drain()
        bench.says([
            .perform(.read(id(1), run(0..<10, page: 0))), .perform(.read(id(3), run(0..<10, page: 20))),
        ])
        // Then writing has its turn, although peers wait.
        bench.store.ended(.done, now: bench.now)
        bench.drain()
        bench.says([.perform(.measure)])
    }

    @Test func aReadThatPlaybackWaitsForTooLongIsGivenUp() {
        var bench = Bench()
        bench.put(1, 10)
        bench.put(2, 10)
        _ = bench.take()
        bench.holds = { _ in true }
        bench.store.play(id(1), from: 0)
        bench.drain()
        for _ in 0..<4 { bench.store.tick() }
        bench.drain()
        #expect(bench.store.holds(id(1)))
        bench.store.tick()
        bench.drain()
        bench.says([.perform(.read(id(1), run(0..<10, page: 0))), .lost(id(1))])
        // While the disk hangs nothing is expected of it.
        bench.want(id(2), 0..<1, false)
        bench.move(id(3), chunkCount: 1, false)
        bench.store.play(id(2), from: 0)
        bench.drain()
        bench.says([.lost(id(2))])
        // It comes back: what it read is nobody's, and it is used again.
        bench.store.ended(.done, now: bench.now)
        bench.holds = { _ in false }
        bench.put(3, 10)
        #expect(bench.store.holds(id(3)) && !bench.store.holds(id(1)))
    }

    @Test func aFailedWriteCostsWhatWasToBeWrittenAndAPause() {
        var bench = Bench()
        bench.put(1, 10)
        bench.fails = { if case .write = $0 { true } else { false } }
        bench.put(2, 10)
        #expect(bench.said.last == .lost(id(2)))
        #expect(bench.store.holds(id(1)))
        bench.move(id(3), chunkCount: 1, false)
        bench.fails = { _ in false }
        bench.now = bench.now.advanced(by: .seconds(30))
        bench.put(3, 1)
        #expect(bench.store.holds(id(3)))
    }

    @Test func failedReadsCostTheirSegmentsAndThenTheDisk() {
        var bench = Bench()
        for index in 1...5 { bench.put(index, 1) }
        _ = bench.take()
        bench.fails = { if case .read = $0 { true } else { false } }
        for index in 1...2 {
            bench.want(id(index), 0..<1)
            bench.drain()
            #expect(bench.said.last == .lost(id(index)))
        }
        #expect(bench.store.holds(id(4)))
        bench.store.play(id(3), from: 0)
        bench.drain()
        #expect(Array(bench.said.suffix(3)) == [.lost(id(3)), .lost(id(4)), .lost(id(5))])
        #expect(bench.store.isOff)
        bench.move(id(6), chunkCount: 1, false)
    }

    @Test func whatIsForgottenWhileItIsWrittenIsNotTold() {
        var bench = Bench()
        bench.holds = { if case .write = $0 { true } else { false } }
        bench.put(1, 10)
        bench.store.discard(id(1))
        // Another one of its name takes its place.
        bench.move(id(1), chunkCount: 5)
        bench.drain()
        _ = bench.take()
        bench.store.ended(.done, now: bench.now)
        bench.drain()
        bench.says([.perform(.measure), .perform(.write(id(1), run(0..<5, page: 0)))])
        bench.store.ended(.done, now: bench.now)
        bench.drain()
        bench.says([.moved(id(1))])
    }
}
