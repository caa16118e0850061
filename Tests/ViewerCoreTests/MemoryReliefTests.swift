import Scheduling
import Testing
import ViewerCore

/// Which segments leave the memory next.
@Suite struct MemoryReliefTests {
    private func segment(
        _ index: Int, byteCount: Int = 10, isOnDisk: Bool = false, canMove: Bool = true
    ) -> MemoryRelief.Candidate {
        MemoryRelief.Candidate(
            id: id(index), start: .seconds(index), byteCount: byteCount, isOnDisk: isOnDisk, canMove: canMove)
    }

    private func id(_ index: Int) -> SegmentID { SegmentID(track: 0, index: index) }

    private func steps(
        held: Int, moving: Int = 0, hasDisk: Bool = true, _ candidates: [MemoryRelief.Candidate]
    ) -> [MemoryRelief.Step] {
        MemoryRelief.steps(
            heldByteCount: held, movingByteCount: moving, limit: 100, hasDisk: hasDisk, candidates: candidates)
    }

    @Test func withoutADiskWhatIsFurthestBehindIsLostOnceTheBoundIsPassed() {
        let candidates = [segment(3), segment(1), segment(2)]
        #expect(!MemoryRelief.isNeeded(heldByteCount: 100, limit: 100, hasDisk: false))
        #expect(steps(held: 100, hasDisk: false, candidates).isEmpty)
        #expect(steps(held: 115, hasDisk: false, candidates) == [.lose(id(1)), .lose(id(2))])
    }

    @Test func withADiskSegmentsMoveWhileThereIsRoom() {
        let candidates = (1...6).map { segment($0) }
        #expect(steps(held: 75, candidates).isEmpty)
        #expect(steps(held: 85, candidates) == [.move(id(1))])
        // What is on its way counts as gone.
        #expect(steps(held: 95, moving: 20, candidates).isEmpty)
    }

    @Test func whatTheDiskDoesNotTakeInTimeIsLost() {
        // Two more than may be on their way.
        #expect(
            steps(held: 120, moving: 20, (1...4).map { segment($0) }) == [.lose(id(1)), .lose(id(2))])
        #expect(
            steps(held: 105, (1...4).map { segment($0) })
                == [.move(id(1)), .move(id(2)), .lose(id(3))])
    }

    @Test func aSegmentLargerThanTheShareGoesAlone() {
        #expect(
            steps(held: 95, [segment(1, byteCount: 40), segment(2, byteCount: 40)]) == [.move(id(1))])
    }

    @Test func whatIsOnTheDiskIsNeverLost() {
        #expect(steps(held: 90, [segment(1, isOnDisk: true), segment(2)]) == [.unload(id(1)), .move(id(2))])
        // Also when the disk has failed meanwhile, or enough is on its way.
        #expect(steps(held: 105, hasDisk: false, [segment(1, isOnDisk: true)]) == [.unload(id(1))])
        #expect(steps(held: 105, moving: 40, [segment(1, isOnDisk: true)]) == [.unload(id(1))])
    }

    @Test func whatIsNotVerifiedStaysOffTheDisk() {
        let candidates = [segment(1, canMove: false), segment(2)]
        #expect(steps(held: 80, candidates) == [.move(id(2))])
        #expect(steps(held: 105, candidates) == [.move(id(2)), .lose(id(1))])
    }
}
