/// What a source gives: a rate once bytes flow, and the wait for the first one.
public struct ThroughputEstimate: Sendable, Hashable, Codable {
    /// Kilobits a second after the first byte; above zero.
    public var kilobitsPerSecond: Double
    /// From the request to the first byte.
    public var latencyMilliseconds: Double

    public init(kilobitsPerSecond: Double, latencyMilliseconds: Double) {
        self.kilobitsPerSecond = kilobitsPerSecond
        self.latencyMilliseconds = latencyMilliseconds
    }
}
