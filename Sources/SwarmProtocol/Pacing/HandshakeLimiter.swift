public import CoreModel

/// How many handshakes a network prefix may start: each costs this side curve operations before anything is proved.
///
/// Loopback is exempt. The table holds at most ``prefixLimit`` prefixes; when it is full, the prefix that has been quiet
/// the longest gives way, so that a flood from many prefixes is bounded by the listener's table of links alone.
public struct HandshakeLimiter: Sendable {
    /// Prefixes that are remembered.
    public static let prefixLimit = 256
    /// Handshakes that a prefix may start at once.
    public static let burst = 8.0
    /// Handshakes that come back each second.
    public static let rate = 1.0

    /// The prefixes that have not got all of their burst back, the longest quiet one first.
    private var prefixes: [(prefix: Bytes16, bucket: TokenBucket)] = []

    /// Starts with an empty table.
    public init() {}

    /// Whether a connection from `address` may start a handshake now; counts it if so.
    ///
    /// - Complexity: O(``prefixLimit``).
    public mutating func admits(_ address: NetworkAddress, now: MonotonicInstant) -> Bool {
        guard !address.isLoopback else { return true }
        let prefix = address.sitePrefix
        var bucket = TokenBucket(capacity: Self.burst, now: now)
        prefixes.removeAll { known in
            if known.prefix == prefix {
                bucket = known.bucket
                return true
            }
            // Who has all of its burst again is as good as unknown.
            var bucket = known.bucket
            return bucket.level(rate: Self.rate, capacity: Self.burst, now: now) >= Self.burst
        }
        let isAdmitted = bucket.level(rate: Self.rate, capacity: Self.burst, now: now) >= 1
        if isAdmitted { bucket.take(1) }
        prefixes.append((prefix, bucket))
        if prefixes.count > Self.prefixLimit { prefixes.removeFirst() }
        return isAdmitted
    }
}
