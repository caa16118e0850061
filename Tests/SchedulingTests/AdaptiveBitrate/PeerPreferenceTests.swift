@testable import Scheduling
import Testing

@Suite struct PeerPreferenceTests {
    private let ladder = FourRungs.ladder

    private func offers(_ shares: [Double]) -> [SegmentOffer] { shares.map { SegmentOffer(peerShare: $0) } }

    /// A viewer who knows CDN and peers.
    private func viewer(cdn: Double, peers: Double, tolerance: Double) -> AdaptiveBitrate {
        var bitrate = FourRungs.bitrate(tolerance: tolerance)
        for _ in 0..<10 {
            bitrate.measured(FourRungs.sample(cdn))
            bitrate.measured(FourRungs.sample(peers, from: .peers))
        }
        return bitrate
    }

    /// A buffer at which the rule steps from `lower` to the next rung without peers.
    private func step(from lower: Int, rate: Double) -> Double? {
        var bitrate = viewer(cdn: rate, peers: rate, tolerance: 0)
        return stride(from: 0.0, through: 22_000, by: 10).first {
            bitrate.choose(FourRungs.situation(buffer: $0)).rung > lower
        }
    }

    @Test func `Near a tie it takes the rung that peers hold, on either side`() throws {
        let level = try #require(step(from: 1, rate: 3000))
        let held = offers([0, 1, 0, 0])
        let above = offers([0, 0, 1, 0])
        var tolerant = viewer(cdn: 3000, peers: 3000, tolerance: 0.1)
        var strict = viewer(cdn: 3000, peers: 3000, tolerance: 0)
        let justAbove = FourRungs.situation(buffer: level, offers: held)
        let justBelow = FourRungs.situation(buffer: level - 20, offers: above)
        #expect(tolerant.choose(justAbove) == BitrateDecision(rung: 1, reason: .peersHold))
        #expect(tolerant.choose(justBelow) == BitrateDecision(rung: 2, reason: .peersHold))
        #expect(strict.choose(justAbove) == BitrateDecision(rung: 2, reason: .outlook))
        #expect(strict.choose(justBelow) == BitrateDecision(rung: 1, reason: .outlook))
    }

    @Test func `It never gives up more outlook than the tolerance`() {
        // The lowest rung is far from what a fast link affords.
        var bitrate = viewer(cdn: 20_000, peers: 20_000, tolerance: 0.1)
        let held = offers([1, 0, 0, 0])
        #expect(bitrate.choose(FourRungs.situation(buffer: 20_000, offers: held)).rung == 3)
    }

    @Test func `In the long run quality loses a hundredth of the bitrate at most`() throws {
        let level = try #require(step(from: 1, rate: 3000))
        let situation = FourRungs.situation(buffer: level, offers: offers([0, 1, 0, 0]))
        var bitrate = viewer(cdn: 3000, peers: 3000, tolerance: 0.1)
        var (lost, fromPeers) = (0.0, 0)
        for _ in 0..<1000 {
            let decision = bitrate.choose(situation)
            lost += ladder.utilities[2] - ladder.utilities[decision.rung]
            if decision.reason == .peersHold { fromPeers += 1 }
        }
        #expect(lost <= 1000 * 0.01 + ladder.utilities[1])
        #expect(fromPeers >= 10)
    }

    @Test func `Slow peers don't make a rung look slow, nor fast ones a rung that they lack look fast`() {
        for buffer in stride(from: 0.0, through: 22_000, by: 2000) {
            var alone = viewer(cdn: 3000, peers: 3000, tolerance: 0)
            var slow = viewer(cdn: 3000, peers: 200, tolerance: 0)
            var fast = viewer(cdn: 3000, peers: 90_000, tolerance: 0)
            let expected = alone.choose(FourRungs.situation(buffer: buffer)).rung
            let heldAll = FourRungs.situation(buffer: buffer, offers: offers([1, 1, 1, 1]))
            let heldNone = FourRungs.situation(buffer: buffer, offers: offers([0, 0, 0, 0]))
            #expect(slow.choose(heldAll).rung == expected)
            #expect(fast.choose(heldNone).rung == expected)
            #expect(fast.choose(heldAll).rung >= expected)
        }
    }

    @Test func `A segment comes as fast as CDN and peers together allow`() {
        // Peers bring a third and the CDN the rest in the same time; without a known access link no faster than the CDN.
        #expect(abs(SourceMix(cdn: 2000, peers: 1000, access: 5000).rate(peerShare: 1) - 3000) < 1e-6)
        #expect(SourceMix(cdn: 2000, peers: 1000, access: nil).rate(peerShare: 1) == 2000)
        // 0.8 of it at 2,000 kbit/s.
        #expect(abs(SourceMix(cdn: 2000, peers: 1000, access: 5000).rate(peerShare: 0.2) - 2500) < 1e-6)
        // Half of it at 1,000 kbit/s.
        #expect(abs(SourceMix(cdn: 1000, peers: 4000, access: nil).rate(peerShare: 0.5) - 2000) < 1e-6)
        #expect(SourceMix(cdn: 1000, peers: 0, access: nil).rate(peerShare: 1) == 1000)
    }

    @Test func `Before the CDN brought anything, peers say what the link can take`() {
        var bitrate = FourRungs.bitrate()
        for _ in 0..<10 { bitrate.measured(FourRungs.sample(9000, from: .peers)) }
        #expect(bitrate.choose(FourRungs.situation(buffer: 15_000, offers: offers([1, 1, 1, 1]))).rung >= 2)
    }
}
