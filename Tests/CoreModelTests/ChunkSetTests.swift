import CoreModel
import Foundation
import Testing

@Suite struct ChunkSetTests {
    @Test func missingRunsAreWhatIsNotThere() {
        var set = ChunkSet(0..<3)
        set.insert(5)
        set.insert(64..<70)
        #expect(set.ranges == [0..<3, 5..<6, 64..<70])
        #expect(set.missing(in: 0..<72) == [3..<5, 6..<64, 70..<72])
        #expect(set.count == 10)
    }

    @Test func equalContentIsEqualHoweverItCameAbout() {
        var set = ChunkSet(0..<100)
        set.subtract(ChunkSet(10..<100))
        #expect(set == ChunkSet(0..<10))
    }

    @Test func runsAreTakenAsTheirChunksOneByOne() {
        let bounds = [0, 1, 5, 62, 63, 64, 65, 127, 128, 129, 191, 192, 200]
        var holed = ChunkSet(3..<140)
        holed.remove(70)
        for lower in bounds {
            for upper in bounds where upper >= lower {
                for base in [ChunkSet(), holed] {
                    var set = base
                    set.insert(lower..<upper)
                    var naive = base
                    for chunk in lower..<upper { naive.insert(chunk) }
                    #expect(set == naive, "\(lower)..<\(upper)")
                    #expect(base.contains(lower..<upper) == (lower..<upper).allSatisfy { base.contains($0) })
                    #expect(set.contains(lower..<upper))
                    #expect(set.runLength(from: lower) == (lower...400).first { !set.contains($0) }.map { $0 - lower })
                }
            }
        }
        #expect(!holed.contains(-1..<5) && holed.contains(-1 ..< -1) && holed.runLength(from: -1) == 0)
    }

    @Test func setsAreComparedAndSearchedAsTheirChunksOneByOne() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            // Across the words in the value and those behind them.
            let limit = [60, 70, 130, 200, 300].randomElement(using: &generator) ?? 60
            func chunks() -> Set<Int> {
                Set(
                    (0..<Int.random(in: 0..<limit, using: &generator)).map { _ in
                        Int.random(in: 0..<limit, using: &generator)
                    })
            }
            func set(_ chunks: Set<Int>) -> ChunkSet {
                var set = ChunkSet()
                for chunk in chunks { set.insert(chunk) }
                return set
            }
            let (left, right) = (chunks(), chunks())
            #expect(set(left).isSubset(of: set(right)) == left.isSubset(of: right))
            #expect(set(left.intersection(right)).isSubset(of: set(right)))
            var (union, difference) = (set(left), set(left))
            union.formUnion(set(right))
            difference.subtract(set(right))
            #expect(union == set(left.union(right)) && difference == set(left.subtracting(right)))
            #expect(difference.count == left.subtracting(right).count)
            let lower = Int.random(in: 0..<limit, using: &generator)
            let range = lower..<limit + 70
            #expect(set(left).firstChunk(from: lower) == left.filter { $0 >= lower }.min())
            #expect(set(left).missingCount(in: range) == range.count { !left.contains($0) })
            let first = range.first { !left.contains($0) } ?? lower
            let end = range.first { $0 > first && left.contains($0) } ?? range.upperBound
            #expect(set(left).nextMissingRun(in: range) == first..<end)
            #expect(try JSONDecoder().decode(ChunkSet.self, from: JSONEncoder().encode(set(left))) == set(left))
        }
    }

    @Test func aSetIsCodedAsItsWords() throws {
        let text = String(decoding: try JSONEncoder().encode(ChunkSet(0..<130)), as: UTF8.self)
        #expect(text == #"{"words":[18446744073709551615,18446744073709551615,3]}"#)
        let padded = Data(#"{"words":[5,0,0,0]}"#.utf8)
        #expect(try JSONDecoder().decode(ChunkSet.self, from: padded).ranges == [0..<1, 2..<3])
    }

    @Test func geometryOfAShortLastChunk() throws {
        let geometry = try #require(SegmentGeometry(byteCount: 300_000))
        #expect(geometry.chunkCount == 19)
        #expect(geometry.stripeCount == 3)
        #expect(geometry.byteRange(ofChunk: 18) == 294_912..<300_000)
        #expect(geometry.chunkRange(ofStripe: 2) == 16..<19)
        #expect(SegmentGeometry(byteCount: 0) == nil)
        #expect(SegmentGeometry(byteCount: 64 * 1024 * 1024 + 1) == nil)
    }
}
