import CoreModel
import EventLoop
import SwarmProtocol

/// How many claims of each maker are passed on: whoever the swarm admits can sign as many as it likes.
struct ClaimLimiter {
    /// Makers that are remembered; while that many have claimed of late, others' claims are not passed on.
    static let claimerLimit = 512
    /// Claims of one maker that are passed on at once.
    static let burst = 8.0
    /// Claims of one maker that are passed on each second.
    static let rate = 2.0

    private var buckets: [PeerID: TokenBucket] = [:]

    /// The number of makers remembered.
    var count: Int { buckets.count }

    /// Whether a claim of this maker's may be passed on now; counts it if so.
    mutating func admits(_ claimer: PeerID, now: MonotonicInstant) -> Bool {
        if buckets[claimer] == nil, buckets.count >= Self.claimerLimit {
            // Who has all of its burst again is as good as unknown.
            buckets = buckets.filter { Self.level($0.value, now: now) < Self.burst }
            guard buckets.count < Self.claimerLimit else { return false }
        }
        var bucket = buckets[claimer] ?? TokenBucket(capacity: Self.burst, now: now)
        guard bucket.level(rate: Self.rate, capacity: Self.burst, now: now) >= 1 else { return false }
        bucket.take(1)
        buckets[claimer] = bucket
        return true
    }

    private static func level(_ bucket: TokenBucket, now: MonotonicInstant) -> Double {
        var bucket = bucket
        return bucket.level(rate: rate, capacity: burst, now: now)
    }
}
