import CoreModel
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
