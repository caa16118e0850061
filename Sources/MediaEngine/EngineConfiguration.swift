/// How a ``MediaEngine`` works; fixed for its life.
public struct EngineConfiguration: Sendable {
    /// What decides when a frame is handed on.
    public enum Pacing: Sendable {
        /// The clock: each frame is presented at its time.
        case realtime
        /// Nothing: frames are handed on as fast as they decode, `play` and `pause` have no effect. For tests, and for
        /// viewers whose frames are only checked.
        case unpaced
    }

    /// What decides when a frame is handed on.
    public var pacing: Pacing = .realtime
    /// Threads of each video decoder, 1…16. One thread costs no frame of delay; more help large pictures.
    public var decoderThreadCount = 1
    /// Video frames decoded ahead of the clock, 1…64. The decoder's own reordering comes on top. Half a second of film and
    /// television rides out a machine that has no time for its decoder now and then.
    public var decodedFrameLimit = 16
    /// Bytes of video frames decoded ahead of the clock; at least one frame is always decoded.
    public var decodedByteLimit = 96 << 20
    /// Audio decoded ahead of the clock.
    public var decodedAudioLimit: Duration = .seconds(1)
    /// Encoded bytes that may wait in the engine, all tracks together. An append beyond it fails the engine: the owner
    /// is expected to stop at its own, smaller buffer goal.
    public var encodedByteLimit = 512 << 20
    /// What must be decoded on each track before the clock starts. The first picture alone is not enough: where the
    /// machine has no time for the decoder at once, or the data comes slowly, a clock started on it stops after it.
    public var startThreshold: Duration = .milliseconds(150)
    /// What must lie ahead of the clock on each track before a stall ends.
    public var resumeThreshold: Duration = .milliseconds(300)
    /// Damaged segments in a row on one track that are skipped before the engine fails.
    public var damagedSegmentLimit = 3

    /// Makes the configuration of a player at home.
    public init() {}

    /// The configuration of a viewer whose frames are only checked: no clock, one decoder thread.
    public static let unpaced: EngineConfiguration = {
        var configuration = EngineConfiguration()
        configuration.pacing = .unpaced
        return configuration
    }()
}
