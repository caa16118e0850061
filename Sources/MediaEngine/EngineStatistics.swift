/// Counters of a ``MediaEngine`` since it was made.
public struct EngineStatistics: Hashable, Sendable {
    /// Pictures decoded that belong to the presentation.
    public var framesDecoded = 0
    /// Pictures handed to the sink.
    public var framesPresented = 0
    /// Pictures that were decoded too late to be shown.
    public var framesDropped = 0
    /// Samples per channel that came out of the decoders: what `ffmpeg` counts for the same packets.
    public var audioSamplesDecoded = 0
    /// Packets that a decoder refused.
    public var decodeErrors = 0
    /// Segments that were left before their end because the container was damaged.
    public var damagedSegments = 0
    /// Times the clock stopped for lack of data.
    public var stalls = 0
    /// How long it stood, in finished stalls.
    public var stallDuration = Duration.zero

    /// Makes counters at zero.
    public init() {}
}
