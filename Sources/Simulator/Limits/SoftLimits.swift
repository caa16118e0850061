internal import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Predictions under assumptions of their own: to compare with, not to assert.
package enum SoftLimits {
    /// Everybody at the same point and infinitely fine pieces (Kumar, Liu and Ross, INFOCOM 2007):
    /// 1 − max(r, N·r − Σu) / (N·r).
    ///
    /// - Parameter uplinks: Usable uplink of each viewer, in bits a second.
    package static func fluid(uplinks: [Double], bitsPerSecond: Double) -> Limit {
        let count = Double(uplinks.count)
        let need = max(bitsPerSecond, count * bitsPerSecond - uplinks.reduce(0, +))
        return Limit(
            .fluid, .soft, 1 - need / (count * bitsPerSecond),
            "If everybody watched the same moment and data flowed like water, the uplinks' mean would decide.")
    }

    /// The server rate that a random population needs on average, in units of `bitsPerSecond`'s: normal approximation of
    /// ``fluid(uplinks:bitsPerSecond:)``.
    package static func expectedServerRate(
        viewerCount: Int, meanUplink: Double, standardDeviation: Double, bitsPerSecond: Double
    ) -> Double {
        let count = Double(viewerCount)
        let mean = count * (bitsPerSecond - meanUplink)
        let deviation = standardDeviation * count.squareRoot()
        guard deviation > 0 else { return max(bitsPerSecond, mean) }
        let z = (mean - bitsPerSecond) / deviation
        return bitsPerSecond + deviation * (Normal.density(z) + z * Normal.probability(below: z))
    }

    /// On demand: each viewer is served only by those further on, and nothing is fetched ahead.
    ///
    /// - Parameter uplinks: Usable uplinks by position in the title, the furthest viewer first.
    package static func order(uplinks: [Double], bitsPerSecond: Double) -> Limit {
        var pool = 0.0
        var server = 0.0
        for uplink in uplinks {
            let given = min(pool, bitsPerSecond)
            server += bitsPerSecond - given
            pool += uplink - given
        }
        return Limit(
            .order, .soft, 1 - server / (bitsPerSecond * Double(uplinks.count)),
            "If nothing were fetched ahead, each viewer could only be served by those further on.")
    }

    /// A title whose viewers online are Poisson with a mean, and keep nothing after leaving:
    /// Σ Poisson(n; c)·max(0, min(ρ·n, n − 1)) / c, which is 1 − (1 − e^−c)/c from ρ = 1 on.
    ///
    /// - Parameters:
    ///   - concurrency: Mean number online: arrival rate × time watched.
    ///   - uplinkRatio: Mean usable uplink over bit rate.
    package static func swarmSize(concurrency: Double, uplinkRatio: Double) -> Limit {
        let sentence = "If nobody kept anything after leaving, a small title would often have a single viewer."
        guard concurrency > 0 else { return Limit(.swarmSize, .soft, 0, sentence) }
        var sum = 0.0
        // Beyond ten standard deviations nothing is left that Double could hold.
        let reach = 10 * concurrency.squareRoot() + 40
        for n in Int(max(0, concurrency - reach))...Int(concurrency + reach) where n > 1 {
            let probability = exp(Double(n) * log(concurrency) - concurrency - logFactorial(n))
            sum += probability * max(0, min(uplinkRatio * Double(n), Double(n - 1)))
        }
        return Limit(.swarmSize, .soft, sum / concurrency, sentence)
    }

    /// A viewer's first seconds come from the CDN.
    package static func warmUp(_ warmUp: Duration, watched: Duration) -> Limit {
        Limit(
            .warmUp, .soft, 1 - warmUp.inSeconds / watched.inSeconds,
            "If each viewer's start came from the CDN alone, short visits would cost most.")
    }

    /// The probability that two classes of viewers, Poisson in number, carry a stream for everybody with a server of
    /// `server` (stochastic fluid): uplinks u₁ > r > u₂, n₁ ≥ c·n₂ − u′ with c = (r − u₂)/(u₁ − r), u′ = server/(u₁ − r).
    package static func universalStreamingProbability(
        bitsPerSecond: Double, server: Double, fast: (uplink: Double, mean: Double),
        slow: (uplink: Double, mean: Double)
    ) -> Double {
        guard server >= bitsPerSecond, fast.uplink > bitsPerSecond else { return 0 }
        let ratio = (bitsPerSecond - slow.uplink) / (fast.uplink - bitsPerSecond)
        let spare = server / (fast.uplink - bitsPerSecond)
        let tails = poissonTails(mean: fast.mean)
        return poisson(mean: slow.mean).enumerated().reduce(0) { sum, slow in
            let needed = max(0, Int((ratio * Double(slow.offset) - spare).rounded(.up)))
            return sum + slow.element * (needed < tails.count ? tails[needed] : 0)
        }
    }

    /// The probability that a viewer has no usable neighbour among `candidates` when each pair connects with `pairSuccess`.
    package static func isolation(pairSuccess: Double, candidates: Int) -> Double {
        pow(1 - pairSuccess, Double(candidates))
    }

    private static func poisson(mean: Double) -> [Double] {
        guard mean > 0 else { return [1] }
        return (0...Int(mean + 10 * mean.squareRoot() + 40)).map {
            exp(Double($0) * log(mean) - mean - logFactorial($0))
        }
    }

    /// P(n ≥ k) for each k.
    private static func poissonTails(mean: Double) -> [Double] {
        var tails = poisson(mean: mean)
        for index in stride(from: tails.count - 2, through: 0, by: -1) { tails[index] += tails[index + 1] }
        return tails
    }

    /// ln n!, by the sum for small n and Stirling's series from 20 on (error below 1e-10).
    private static func logFactorial(_ n: Int) -> Double {
        if n < 20 { return (1...max(1, n)).reduce(0) { $0 + log(Double($1)) } }
        let x = Double(n)
        return x * log(x) - x + log(2 * Double.pi * x) / 2 + 1 / (12 * x) - 1 / (360 * x * x * x)
            + 1 / (1260 * x * x * x * x * x)
    }
}
