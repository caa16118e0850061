/// What holds for a whole ``EmulatedNetwork``.
public struct NetworkConfiguration: Hashable, Sendable {
    /// The most bytes that go over a link in one piece, and the quantum of the round robin. A chunk of 16 KiB with its
    /// proof and its header fits. Longer messages are cut.
    public var frameByteCount: Int = 17 << 10
    /// One-way delay between regions, `regionDelays[from][to]`; empty where nodes' own delays say everything.
    public var regionDelays: [[Duration]] = []
    /// The window that a flow begins with: ten packets, RFC 6928.
    public var initialWindowByteCount: Int = 14_600
    /// The largest window: 4 MiB, what Linux grows its buffers to by default is 4 to 6.
    public var maximumWindowByteCount: Int = 4 << 20
    /// The bytes that a flow keeps waiting at its bottleneck. The round robin there finds the flow ready when its turn
    /// comes, which takes three frames: with two, single flows over several full links get 7 % too little.
    public var standingQueueByteCount: Int = 3 * 17 << 10
    /// The payload of a TCP packet over Ethernet, for the rate that loss allows.
    public var packetByteCount: Int = 1_448
    /// Bytes of acknowledgements that go back for each byte that comes in: with one of 66 bytes, headers included, for two
    /// packets of 1,514, as TCP does (RFC 9293, 3.8.6.3), 0.022. They take their part of a busy uplink; 0 leaves them out.
    public var acknowledgementShare: Float = 0
    /// Who reaches whom.
    public var reachability: ReachabilityTable = .everybody

    /// The defaults.
    public init() {}
}
