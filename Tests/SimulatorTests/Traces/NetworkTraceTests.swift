import Simulator
import Testing

@Suite struct NetworkTraceTests {
    @Test func meanRateWeighsStepsByTheirDuration() throws {
        let trace = try #require(
            NetworkTrace(steps: [
                .init(duration: .seconds(3), bitsPerSecond: 1_000_000), .init(duration: .seconds(1), bitsPerSecond: 0),
            ]))
        #expect(trace.duration == .seconds(4))
        #expect(trace.meanBitsPerSecond == 750_000)
    }

    @Test func aTraceThatNeverCarriesAnythingIsNone() {
        #expect(NetworkTrace(steps: []) == nil)
        #expect(NetworkTrace(steps: [.init(duration: .seconds(1), bitsPerSecond: 0)]) == nil)
        #expect(NetworkTrace(steps: [.init(duration: .zero, bitsPerSecond: 1)]) == nil)
        #expect(NetworkTrace(steps: [.init(duration: .seconds(1), bitsPerSecond: -1)]) == nil)
    }
}
