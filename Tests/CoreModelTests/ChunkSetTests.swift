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
