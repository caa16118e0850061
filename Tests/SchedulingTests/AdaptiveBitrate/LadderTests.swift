import Scheduling
import Testing

@Suite struct LadderTests {
    @Test func `A ladder ascends, from above zero`() {
        #expect(BitrateLadder(bitsPerSecond: []) == nil)
        #expect(BitrateLadder(bitsPerSecond: [0, 1]) == nil)
        #expect(BitrateLadder(bitsPerSecond: [2, 1]) == nil)
        #expect(BitrateLadder(bitsPerSecond: [1, 2], pictureSizes: [PixelSize(width: 1, height: 1)]) == nil)
        #expect(BitrateLadder(bitsPerSecond: [5])?.top == 0)
    }

    @Test func `A cap allows the highest rung within it, and always the lowest`() {
        let ladder = FourRungs.ladder
        #expect(ladder.highestRung(within: BitrateLimits()) == 3)
        #expect(ladder.highestRung(within: BitrateLimits(bitsPerSecond: 4_000_000)) == 2)
        #expect(ladder.highestRung(within: BitrateLimits(bitsPerSecond: 3_999_999)) == 1)
        #expect(ladder.highestRung(within: BitrateLimits(bitsPerSecond: 1)) == 0)
    }

    @Test(arguments: [
        (1, 1, 0), (640, 360, 0), (641, 361, 1), (1280, 720, 1), (1000, 1000, 1), (1920, 1080, 2), (3840, 2160, 2),
    ])
    func `A viewport allows the smallest picture that fills it`(width: Int, height: Int, rung: Int) throws {
        let sizes = [(640, 360), (1280, 720), (1920, 1080)].map { PixelSize(width: $0.0, height: $0.1) }
        let ladder = try #require(
            BitrateLadder(bitsPerSecond: [800_000, 2_500_000, 5_000_000], pictureSizes: sizes))
        let viewport = PixelSize(width: width, height: height)
        #expect(ladder.highestRung(within: BitrateLimits(viewport: viewport)) == rung)
    }
}
