@testable import Scheduling
import Testing

@Suite struct AbandonmentTests {
    /// A viewer on a link of 9 Mbit/s that breaks down to `rate` while a segment of 8 Mbit/s is fetched; looked at ten times
    /// a second.
    ///
    /// - Returns: When the fetch was given up and for what.
    private func breakdown(
        to rate: Double, buffer: Double, bitrate: inout AdaptiveBitrate
    ) -> (milliseconds: Double, rung: Int)? {
        for _ in 0..<10 { bitrate.measured(FourRungs.sample(9000)) }
        var received = 0.0
        for tick in 1...600 {
            received += (tick <= 5 ? 9000 : rate) * 100
            guard received < 24e6 else { return nil }
            let progress = FourRungs.progress(3, received: received, after: Double(tick) * 100)
            if let rung = bitrate.abandon(progress, buffer: max(0, buffer - progress.milliseconds)) {
                bitrate.measured(
                    TransferSample(
                        bits: received, milliseconds: progress.milliseconds, latencyMilliseconds: 0, source: .cdn,
                        isWhole: false))
                bitrate.abandoned(progress, for: rung, buffer: max(0, buffer - progress.milliseconds))
                return (progress.milliseconds, rung)
            }
        }
        return nil
    }

    @Test func `A fetch that goes as expected is left alone`() {
        var bitrate = FourRungs.bitrate()
        #expect(breakdown(to: 9000, buffer: 6000, bitrate: &bitrate) == nil)
    }

    @Test
    func `A fetch that would empty the buffer is given up, within the buffer's time, for a rung that arrives sooner`()
        throws
    {
        var bitrate = FourRungs.bitrate()
        let end = try #require(breakdown(to: 800, buffer: 9000, bitrate: &bitrate))
        #expect(end.rung < 3 && (1000..<6000).contains(end.milliseconds))
        // The named rung is what comes next, whatever the rule would have chosen.
        let next = bitrate.choose(FourRungs.situation(buffer: 6000))
        #expect(next == BitrateDecision(rung: end.rung, reason: .abandoned))
        // The belief has followed the breakdown, though most of what arrived came before it.
        #expect(bitrate.choose(FourRungs.situation(buffer: 6000)).rung <= 1)
    }

    @Test func `A limit holds for the replacement too`() throws {
        var bitrate = FourRungs.bitrate()
        let end = try #require(breakdown(to: 2000, buffer: 6000, bitrate: &bitrate))
        #expect(bitrate.choose(FourRungs.situation(buffer: 3000, highest: 0)).rung == min(end.rung, 0))
    }

    @Test func `Neither the first second nor the last bits of a fetch are given up`() {
        var bitrate = FourRungs.bitrate()
        for _ in 0..<10 { bitrate.measured(FourRungs.sample(9000)) }
        #expect(bitrate.abandon(FourRungs.progress(3, received: 1000, after: 900), buffer: 500) == nil)
        // 2 Mbit are left; the lowest rung has 3.
        #expect(bitrate.abandon(FourRungs.progress(3, received: 22e6, after: 9000), buffer: 500) == nil)
        // There is nothing below the lowest.
        #expect(bitrate.abandon(FourRungs.progress(0, received: 1000, after: 9000), buffer: 500) == nil)
    }

    @Test func `After a seek the rule chooses afresh`() throws {
        var bitrate = FourRungs.bitrate()
        _ = try #require(breakdown(to: 800, buffer: 9000, bitrate: &bitrate))
        bitrate.sought()
        #expect(bitrate.choose(FourRungs.situation(buffer: 0)).reason == .outlook)
    }
}
