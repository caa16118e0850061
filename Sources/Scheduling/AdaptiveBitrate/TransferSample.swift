/// A transfer that tells how fast a source is.
public struct TransferSample: Sendable, Equatable {
    /// What arrived.
    public var bits: Double
    /// From the first byte to the last.
    public var milliseconds: Double
    /// From the request to the first byte.
    public var latencyMilliseconds: Double
    public var source: ByteSource
    /// Whether all that was asked for arrived; `false` for a fetch that was given up.
    public var isWhole: Bool

    public init(
        bits: Double, milliseconds: Double, latencyMilliseconds: Double, source: ByteSource, isWhole: Bool = true
    ) {
        self.bits = bits
        self.milliseconds = milliseconds
        self.latencyMilliseconds = latencyMilliseconds
        self.source = source
        self.isWhole = isWhole
    }
}
