internal import CoreModel

/// What the CDN needs for so many bytes after all that is under way, for many questions.
struct CDNPace: Sendable {
    /// Bytes that are under way.
    var backlog = 0
    /// In bytes per second.
    let rate: Double
    let latency: Duration
    /// What a transfer may take longer.
    let factor: Double

    func time(_ byteCount: Int) -> Duration {
        latency + .clamping(seconds: min(Double(backlog + byteCount) / rate, 1e6))
    }

    /// With what a transfer may take longer.
    func scaledTime(chunks: Int) -> Duration { .nanoseconds(scaledNanoseconds(chunks: chunks)) }

    /// The same in nanoseconds.
    func scaledNanoseconds(chunks: Int) -> Int64 {
        Duration.nanoseconds(clamping: time(chunks * SegmentGeometry.chunkByteCount).inSeconds * factor)
    }
}
