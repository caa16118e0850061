/// What a tracker knows of its streams, for people and for monitoring.
public struct TrackerStatistics: Sendable, Codable {
    /// One stream.
    public struct Stream: Sendable, Codable {
        /// The stream's identifier in hexadecimal.
        public var stream: String
        /// Viewers now.
        public var viewers: Int
        /// Media bytes from the CDN, as reported.
        public var bytesCDN: UInt64
        /// Media bytes from peers, as reported.
        public var bytesPeers: UInt64
        /// The share of bytes that came from peers; `nil` before the first.
        public var peerShare: Double?
        /// Chunks that failed verification, as reported.
        public var chunksRejected: UInt64
        /// Stalls, as reported.
        public var stalls: UInt64
    }

    /// The streams, by identifier.
    public var streams: [Stream]
    /// Viewers in all.
    public var viewers: Int
    /// Joins since the start.
    public var joins: UInt64
    /// Joins that were refused since the start.
    public var refusals: UInt64
}
