import CoreModel
import Testing

@Suite struct MediaTimeTests {
    @Test func sumsOfDifferentTimescalesAreExact() {
        let sum = MediaTime(ticks: 1, timescale: 3) + MediaTime(ticks: 1, timescale: 6)
        #expect(sum == MediaTime(ticks: 1, timescale: 2))
    }

    @Test func aTenMegahertzClockSinceTheEpochKeepsEachTick() {
        let start = MediaTime(ticks: 17_000_000_000_000_000 + 1, timescale: 10_000_000)
        #expect(start.ticks(at: 10_000_000) == 17_000_000_000_000_001)
        #expect((start - MediaTime(ticks: 1, timescale: 10_000_000)).ticks == 1_700_000_000)
    }

    @Test func ticksRoundDownOnBothSidesOfZero() {
        #expect(MediaTime(ticks: 1, timescale: 3).ticks(at: 10) == 3)
        #expect(MediaTime(ticks: -1, timescale: 3).ticks(at: 10) == -4)
    }

    @Test func extremesNeitherTrapNorWrap() {
        let large = MediaTime(ticks: .max, timescale: 1)
        #expect(large + large >= large)
        #expect(-MediaTime(ticks: .min, timescale: 1) > .zero)
    }
}
