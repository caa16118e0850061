import Foundation
@testable import Scheduling
import Testing

@Suite struct OutlookRuleTests {
    private func bitrate(
        rate: Double, peers: Double? = nil, tolerance: Double = 0.1, segments: Int = 10
    ) -> AdaptiveBitrate {
        var bitrate = FourRungs.bitrate(tolerance: tolerance)
        for _ in 0..<segments {
            bitrate.measured(FourRungs.sample(rate))
            if let peers { bitrate.measured(FourRungs.sample(peers, from: .peers)) }
        }
        return bitrate
    }

    private func rung(rate: Double, buffer: Double, highest: Int = 3) -> Int {
        var bitrate = bitrate(rate: rate)
        return bitrate.choose(FourRungs.situation(buffer: buffer, highest: highest)).rung
    }

    @Test func `More buffer is worth more, and a full one most`() {
        let table = FourRungs.table
        for logRate in stride(from: 4.0, through: 11, by: 0.5) {
            for fade in [0.0, 0.5, 1] {
                var last = -Double.infinity
                for level in stride(from: 0.0, through: 22_000, by: 500) {
                    let worth = table.worth(level: level, logRate: logRate, fade: fade)
                    #expect(worth >= last - 1e-9 && worth <= 1e-9)
                    last = worth
                }
                #expect(abs(last) <= 1e-9)
            }
        }
    }

    @Test func `More buffer and more throughput never choose lower`() {
        for rate in stride(from: 300.0, through: 20_000, by: 700) {
            for buffer in stride(from: 0.0, through: 21_000, by: 1500) {
                let chosen = rung(rate: rate, buffer: buffer)
                #expect(rung(rate: rate, buffer: buffer + 1000) >= chosen)
                #expect(rung(rate: rate * 1.2, buffer: buffer) >= chosen)
            }
        }
    }

    @Test func `An empty buffer asks for what arrives in time, a full one for the top that the link comes near`() {
        #expect(rung(rate: 3000, buffer: 500) <= 1)
        #expect(rung(rate: 300, buffer: 22_000) <= 1)
        #expect(rung(rate: 12_000, buffer: 20_000) == 3)
        #expect(rung(rate: 12_000, buffer: 20_000, highest: 1) == 1)
    }

    @Test func `The limit is named as the reason when it decides`() {
        var bitrate = bitrate(rate: 50_000)
        #expect(bitrate.choose(FourRungs.situation(buffer: 20_000, highest: 2)).reason == .limited)
        #expect(bitrate.choose(FourRungs.situation(buffer: 20_000)).reason == .outlook)
    }

    @Test func `Start-up: the lowest rung, or what an earlier session makes likely`() {
        var bitrate = FourRungs.bitrate()
        #expect(bitrate.choose(FourRungs.situation(buffer: 0, index: 0)) == BitrateDecision(rung: 0, reason: .startup))
        bitrate = FourRungs.bitrate(start: 5000)
        // Seven tenths of it carry 2,000 kbit/s.
        #expect(bitrate.choose(FourRungs.situation(buffer: 0, index: 0)) == BitrateDecision(rung: 1, reason: .startup))
        #expect(bitrate.choose(FourRungs.situation(buffer: 0, index: 0, highest: 0)).rung == 0)
    }

    @Test func `A cache hit never fools it`() {
        var plain = bitrate(rate: 1500)
        var fooled = plain
        for _ in 0..<50 {
            fooled.measured(TransferSample(bits: 12e6, milliseconds: 1, latencyMilliseconds: 0, source: .store))
        }
        for _ in 0..<2 {
            fooled.measured(TransferSample(bits: 12e6, milliseconds: 2, latencyMilliseconds: 1, source: .cdn))
        }
        for buffer in stride(from: 0.0, through: 22_000, by: 1000) {
            let situation = FourRungs.situation(buffer: buffer)
            #expect(plain.choose(situation) == fooled.choose(situation))
        }
    }

    @Test func `What lies in the store costs no time`() {
        var bitrate = bitrate(rate: 1500)
        let inStore = [0.0, 0, 0, 1].map { SegmentOffer(peerShare: 0, storeShare: $0) }
        #expect(bitrate.choose(FourRungs.situation(buffer: 4000)).rung < 3)
        #expect(bitrate.choose(FourRungs.situation(buffer: 4000, offers: inStore)).rung == 3)
    }

    @Test func `The same calls give the same choices`() {
        var (one, other) = (bitrate(rate: 2600), bitrate(rate: 2600))
        for step in 0..<200 {
            let situation = FourRungs.situation(buffer: Double(step * 7919 % 22_000))
            let decision = one.choose(situation)
            #expect(decision == other.choose(situation))
            let sample = FourRungs.sample(Double(500 + step * 104_729 % 9000))
            one.measured(sample)
            other.measured(sample)
        }
    }

    @Test func `A decision is a line of a log`() throws {
        let decision = BitrateDecision(rung: 2, delayMilliseconds: 0, reason: .peersHold)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(decision), as: UTF8.self)
        #expect(text == #"{"delayMilliseconds":0,"reason":"peersHold","rung":2}"#)
        #expect(try JSONDecoder().decode(BitrateDecision.self, from: Data(text.utf8)) == decision)
    }
}
