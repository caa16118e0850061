import CoreModel
import Scheduling
import Testing

@testable import ViewerCore

@Suite struct HoldingTableTests {
    private static func root(_ number: Int) -> Digest { Digest(Bytes32(words: (UInt64(number), 0, 0, 0))) }

    @Test func whatIsLostMakesRoom() {
        var table = HoldingTable()
        table[Self.root(0)] = Holding(verified: ChunkSet(0..<9))
        // Hours of a peer that keeps a few segments.
        for number in 1...5 * HoldingTable.limit {
            table[Self.root(number)] = Holding(verified: ChunkSet(0..<2))
            if number > 3 { table[Self.root(number - 3)] = Holding() }
        }
        #expect(table.count == 4)
        #expect(table[Self.root(0)] == Holding(verified: ChunkSet(0..<9)))
        #expect(table[Self.root(5 * HoldingTable.limit)] == Holding(verified: ChunkSet(0..<2)))
    }

    @Test func theOldestIsForgottenWhenFull() {
        var table = HoldingTable()
        for number in 0..<HoldingTable.limit { table[Self.root(number)] = Holding(verified: ChunkSet(0..<1)) }
        // One that comes again after it was lost is new; one that only changes is not.
        table[Self.root(0)] = nil
        table[Self.root(0)] = Holding(verified: ChunkSet(0..<1))
        table[Self.root(1)] = Holding(verified: ChunkSet(0..<5))
        table[Self.root(HoldingTable.limit)] = Holding(verified: ChunkSet(0..<1))
        #expect(table.count == HoldingTable.limit)
        #expect(table[Self.root(1)] == nil)
        #expect(table[Self.root(0)] != nil && table[Self.root(2)] != nil)
        #expect(table[Self.root(HoldingTable.limit)] != nil)
    }
}
