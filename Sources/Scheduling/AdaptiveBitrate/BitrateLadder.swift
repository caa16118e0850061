import CoreModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The renditions that bitrate adaptation chooses among, as rungs from the lowest rate to the highest.
///
/// A rung is named by its index. Its utility is the natural logarithm of its rate over the lowest rate: a viewer notices a
/// doubling at 500 kbit/s about as much as one at 5 Mbit/s (the measure of BOLA and of Sabre's score).
public struct BitrateLadder: Sendable, Equatable {
    /// Kilobits a second, which are bits a millisecond, from the lowest to the highest; at least one.
    public let kilobitsPerSecond: [Double]
    /// ln(rate / lowest rate) of each rung; the first is 0.
    public let utilities: [Double]
    /// The pictures' sizes, one per rung; empty where the manifest doesn't tell.
    public let pictureSizes: [PixelSize]

    /// Makes a ladder.
    ///
    /// - Parameters:
    ///   - bitsPerSecond: Ascending and above zero.
    ///   - pictureSizes: One per rung, or none.
    /// - Returns: `nil` when there is no rung, or the lists are not as said.
    public init?(bitsPerSecond: [Int], pictureSizes: [PixelSize] = []) {
        guard let lowest = bitsPerSecond.first, lowest > 0 else { return nil }
        guard zip(bitsPerSecond, bitsPerSecond.dropFirst()).allSatisfy({ $0 <= $1 }) else { return nil }
        guard pictureSizes.isEmpty || pictureSizes.count == bitsPerSecond.count else { return nil }
        kilobitsPerSecond = bitsPerSecond.map { Double($0) / 1000 }
        utilities = bitsPerSecond.map { log(Double($0) / Double(lowest)) }
        self.pictureSizes = pictureSizes
    }

    /// How many rungs there are.
    public var count: Int { kilobitsPerSecond.count }

    /// The highest rung.
    public var top: Int { kilobitsPerSecond.count - 1 }

    /// The highest rung within `limits`; the lowest when none is.
    ///
    /// A viewport allows the smallest picture that fills it, and all smaller ones: pixels that aren't shown cost bytes.
    public func highestRung(within limits: BitrateLimits) -> Int {
        var highest = top
        if let most = limits.bitsPerSecond {
            while highest > 0, kilobitsPerSecond[highest] * 1000 > Double(most) { highest -= 1 }
        }
        if let viewport = limits.viewport, !pictureSizes.isEmpty {
            while highest > 0, pictureSizes[highest - 1].fills(viewport) { highest -= 1 }
        }
        return highest
    }

    /// The highest rung up to `limit` whose segment arrives within its own duration.
    ///
    /// - Parameters:
    ///   - rate: What the segment will be fetched at, in kilobits a second.
    ///   - latency: Until its first byte, in milliseconds.
    ///   - segment: The segment's duration in milliseconds.
    func rung(sustainedAt rate: Double, latency: Double, segment: Double, limit: Int) -> Int {
        var rung = 0
        while rung < limit, latency + segment * kilobitsPerSecond[rung + 1] / rate <= segment { rung += 1 }
        return rung
    }
}
