/// How bitrates are chosen.
public struct BitrateConfiguration: Sendable, Equatable {
    /// The rule.
    public var algorithm = BitrateAlgorithm.outlook
    /// The size of the buffer; in live the distance to the live edge. 30 s, as in hls.js and dash.js.
    public var capacityMilliseconds = 30_000.0
    /// The usual duration of a segment's media.
    public var segmentMilliseconds = 4000.0
    /// What the network gave in an earlier session, or what the operator expects; `nil` starts at the lowest rung.
    public var startKilobitsPerSecond: Double?
    /// How much utility may be given up for a segment that peers hold whole, 0 to 1; 0.1 is a tenth of the bitrate.
    public var peerTolerance = 0.1
    /// Whether the BOLA rules step up only to what the throughput sustains.
    public var minimisesOscillation = false

    public init() {}
}
