import CoreModel
import Testing
@testable import ViewerCore

/// Which pages of the store's file are taken.
@Suite struct DiskLayoutTests {
    @Test func spaceIsTakenFromTheFrontAndGivenBack() throws {
        var layout = DiskLayout(limit: 10)
        var taken: [Range<Int>]?
        taken = layout.allocate(4)
        #expect(taken == [0..<4])
        taken = layout.allocate(3)
        #expect(taken == [4..<7])
        taken = layout.allocate(4)
        #expect(taken == nil)
        layout.release([0..<4])
        #expect(layout.free == [0..<4] && layout.end == 7 && layout.usedCount == 3)
        taken = layout.allocate(2)
        #expect(taken == [0..<2])
        // In one piece behind the others, although there is room before them.
        taken = layout.allocate(3)
        #expect(taken == [7..<10])
        taken = layout.allocate(2)
        #expect(taken == [2..<4])
        #expect(layout.freeCount == 0)
    }

    @Test func whatIsScatteredIsTakenInPieces() {
        var layout = DiskLayout(limit: 8)
        var taken: [Range<Int>]?
        let runs = (0..<4).compactMap { _ in layout.allocate(2) }
        layout.release(runs[0])
        layout.release(runs[2])
        taken = layout.allocate(3)
        #expect(taken == [0..<2, 4..<5])
        #expect(layout.free == [5..<6])
    }

    @Test func theEndComesBackWithWhatLiesThere() {
        var layout = DiskLayout(limit: 8)
        var taken: [Range<Int>]?
        let runs = (0..<4).compactMap { _ in layout.allocate(2) }
        layout.release(runs[2])
        layout.release(runs[1])
        #expect(layout.free == [2..<6] && layout.end == 8)
        layout.release(runs[3])
        #expect(layout.free.isEmpty && layout.end == 2)
        layout.setLimit(2)
        taken = layout.allocate(1)
        #expect(taken == nil)
        layout.setLimit(4)
        taken = layout.allocate(2)
        #expect(taken == [2..<4])
    }

    /// Whatever is taken and given back, no page belongs to two, and none is lost.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func noPageBelongsToTwo(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var layout = DiskLayout(limit: 60)
        var taken: [[Range<Int>]] = []
        for _ in 0..<2000 {
            if Bool.random(using: &generator) {
                let count = Int.random(in: 1...20, using: &generator)
                let isPossible = count <= layout.freeCount
                let runs = layout.allocate(count)
                #expect((runs != nil) == isPossible)
                guard let runs else { continue }
                #expect(runs.reduce(0) { $0 + $1.count } == count)
                taken.append(runs)
            } else if let place = taken.indices.randomElement(using: &generator) {
                layout.release(taken.remove(at: place))
            }
            var owners = Array(repeating: 0, count: 60)
            for run in taken.joined() { for page in run { owners[page] += 1 } }
            for run in layout.free { for page in run { owners[page] += 1 } }
            #expect(owners[..<layout.end].allSatisfy { $0 == 1 } && owners[layout.end...].allSatisfy { $0 == 0 })
            #expect(zip(layout.free, layout.free.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            #expect(layout.usedCount == taken.joined().reduce(0) { $0 + $1.count })
        }
    }
}
