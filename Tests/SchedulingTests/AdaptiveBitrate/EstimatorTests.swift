@testable import Scheduling
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite struct EstimatorTests {
    private func sample(_ rate: Double, milliseconds: Double = 3000, latency: Double = 0) -> TransferSample {
        TransferSample(
            bits: rate * milliseconds, milliseconds: milliseconds, latencyMilliseconds: latency, source: .cdn)
    }

    private func near(_ value: Double?, _ expected: Double) -> Bool {
        guard let value else { return false }
        return abs(value - expected) <= 1e-9 * abs(expected)
    }

    @Test func `The first transfer is the first estimate`() {
        var average = DualAverage()
        #expect(average.estimate == nil)
        average.add(sample(1234, milliseconds: 700, latency: 40), segment: 3000)
        #expect(near(average.estimate?.kilobitsPerSecond, 1234))
        #expect(near(average.estimate?.latencyMilliseconds, 40))
    }

    /// With half-lives of one and of two transfers the weights of two transfers are 1 : 2 and √½ : 1.
    @Test func `A drop shows in the fast average, a rise only in the slow one`() {
        var average = DualAverage(fastHalfLife: .seconds(3), slowHalfLife: .seconds(6))
        average.add(sample(4000, latency: 10), segment: 3000)
        average.add(sample(1000, latency: 100), segment: 3000)
        #expect(near(average.estimate?.kilobitsPerSecond, (4000 + 2 * 1000) / 3))
        #expect(near(average.estimate?.latencyMilliseconds, (10 + 2 * 100) / 3))

        average = DualAverage(fastHalfLife: .seconds(3), slowHalfLife: .seconds(6))
        average.add(sample(1000), segment: 3000)
        average.add(sample(4000), segment: 3000)
        let share = 0.5.squareRoot()
        #expect(near(average.estimate?.kilobitsPerSecond, (share * 1000 + 4000) / (share + 1)))
    }

    @Test func `What carried nothing or took no time says nothing`() {
        var average = DualAverage()
        average.add(sample(0), segment: 3000)
        average.add(sample(1000, milliseconds: 0), segment: 3000)
        #expect(average.estimate == nil)
        var sliding = SlidingAverage()
        sliding.add(sample(0))
        #expect(sliding.estimate == nil)
        var belief = RateBelief()
        belief.add(bits: 0, milliseconds: 100, segment: 3000)
        #expect(belief.logRate == nil)
    }

    @Test func `The sliding average is the mean of the last three`() {
        var average = SlidingAverage()
        for (rate, latency) in [(1000.0, 10.0), (2000, 20), (3000, 30), (7000, 40)] {
            average.add(sample(rate, milliseconds: rate, latency: latency))
        }
        #expect(near(average.estimate?.kilobitsPerSecond, 4000))
        #expect(near(average.estimate?.latencyMilliseconds, 30))
    }

    @Test func `The belief is a geometric mean that forgets by half each 2.5 s`() {
        var belief = RateBelief()
        belief.add(bits: 1000 * 2500, milliseconds: 2500, segment: 2500)
        belief.add(bits: 8000 * 2500, milliseconds: 2500, segment: 2500)
        // Weights 1 : 2, so the cube root of 1000 × 8000².
        #expect(near(belief.logRate, log(4000)))
    }

    @Test func `A segment that came at once weighs as much as one that took its duration`() {
        var quick = RateBelief()
        quick.add(bits: 1000 * 2500, milliseconds: 2500, segment: 2500)
        quick.add(bits: 8000 * 25, milliseconds: 25, segment: 2500)
        #expect(near(quick.logRate, log(4000)))
    }

    @Test func `The recent rate of a fetch forgets how it began`() {
        var recent = RecentRate()
        recent.update(FourRungs.progress(3, received: 4000 * 1500, after: 1500))
        #expect(near(recent.kilobitsPerSecond, 4000))
        // The half-life later, 1,000 kbit/s count twice as much.
        recent.update(FourRungs.progress(3, received: 4000 * 1500 + 1000 * 1500, after: 3000))
        #expect(near(recent.kilobitsPerSecond, 2000))
        // Another fetch.
        recent.update(FourRungs.progress(3, received: 500 * 100, after: 100))
        #expect(near(recent.kilobitsPerSecond, 500))
    }

    @Test func `CDN, peers and store are estimated apart`() {
        var estimates = SourceEstimates()
        estimates.add(FourRungs.sample(2000, from: .cdn), segment: 3000)
        estimates.add(FourRungs.sample(5000, from: .peers), segment: 3000)
        estimates.add(FourRungs.sample(900_000, from: .store), segment: 3000)
        #expect(near(estimates[.cdn]?.kilobitsPerSecond, 2000))
        #expect(near(estimates[.peers]?.kilobitsPerSecond, 5000))
        #expect(near(estimates[.store]?.kilobitsPerSecond, 900_000))
        #expect(near(estimates.cdnBelief.logRate, log(2000)))
    }

    @Test func `A response faster than any network is not the CDN's, unless all are`() {
        let hit = TransferSample(bits: 8e6, milliseconds: 2, latencyMilliseconds: 1, source: .cdn)
        var estimates = SourceEstimates()
        estimates.add(FourRungs.sample(2000), segment: 3000)
        for _ in 0..<2 { estimates.add(hit, segment: 3000) }
        #expect(near(estimates[.cdn]?.kilobitsPerSecond, 2000))
        #expect(near(estimates[.store]?.kilobitsPerSecond, 4e6))
        // One that did cross the network starts the count again.
        estimates.add(FourRungs.sample(2000), segment: 3000)
        for _ in 0..<2 { estimates.add(hit, segment: 3000) }
        #expect(near(estimates[.cdn]?.kilobitsPerSecond, 2000))
        estimates.add(hit, segment: 3000)
        #expect(estimates.cdnBelief.logRate ?? 0 > log(2001))
    }

    @Test func `A fetch that was given up moves the belief and not the averages of whole transfers`() {
        var estimates = SourceEstimates()
        estimates.add(FourRungs.sample(4000), segment: 3000)
        estimates.add(FourRungs.sample(100, isWhole: false), segment: 3000)
        #expect(near(estimates[.cdn]?.kilobitsPerSecond, 4000))
        #expect(estimates.cdnBelief.logRate ?? 99 < log(1000))
    }
}
