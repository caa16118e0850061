internal import CoreModel

/// How many claims of each maker are passed on: whoever the swarm admits can sign as many as it likes.
struct ClaimLimiter: Sendable {
    /// Makers that are remembered; while that many have claimed of late, others' claims are not passed on.
    static let claimerLimit = 512
    /// Claims of one maker that are passed on at once.
    static let burst = 8.0
    /// Claims of one maker that are passed on each second.
    static let rate = 2.0

    /// Who has claimed of late, in the order of their first claim.
    private var makers: [(peer: PeerID, bucket: TokenBucket)] = []

    /// The number of makers remembered.
    var count: Int { makers.count }

    /// Whether a claim of this maker's may be passed on now; counts it if so.
    ///
    /// - Complexity: O(makers that have claimed within the last seconds).
    mutating func admits(_ claimer: PeerID, now: MonotonicInstant) -> Bool {
        if let index = makers.firstIndex(where: { $0.peer == claimer }) {
            return Self.take(from: &makers[index].bucket, now: now)
        }
        // Who has all of its burst again is as good as unknown.
        makers.removeAll { maker in
            var bucket = maker.bucket
            return bucket.level(rate: Self.rate, capacity: Self.burst, now: now) >= Self.burst
        }
        guard makers.count < Self.claimerLimit else { return false }
        var bucket = TokenBucket(capacity: Self.burst, now: now)
        let isAdmitted = Self.take(from: &bucket, now: now)
        makers.append((claimer, bucket))
        return isAdmitted
    }

    private static func take(from bucket: inout TokenBucket, now: MonotonicInstant) -> Bool {
        guard bucket.level(rate: rate, capacity: burst, now: now) >= 1 else { return false }
        bucket.take(1)
        return true
    }
}
