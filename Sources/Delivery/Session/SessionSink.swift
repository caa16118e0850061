public import CoreModel

/// What plays a session's media: the media engine, or a clock that only counts. Called on the session's loop.
public protocol SessionSink: AnyObject {
    /// Takes the next event.
    func session(_ session: ViewerSession, did event: SessionEvent)

    /// Where playback stands now. Asked several times a second, on the loop.
    func playback(at now: MonotonicInstant) -> PlaybackReport

    /// In live: let media time pass at this speed, to keep the distance to the live edge.
    func session(_ session: ViewerSession, wantsSpeed speed: Double)

    /// In live: go on there, since what is played has been left behind. A player seeks and calls
    /// ``ViewerSession/seek(to:)``, both before it takes another event.
    func session(_ session: ViewerSession, wantsSeekTo time: MediaTime)
}

extension SessionSink {
    public func session(_ session: ViewerSession, wantsSpeed speed: Double) {}
    public func session(_ session: ViewerSession, wantsSeekTo time: MediaTime) {}
}

/// Where playback stands.
public struct PlaybackReport: Sendable, Equatable {
    /// The playhead, from the presentation's start.
    public var position: Duration
    /// Whether the clock runs.
    public var isPlaying: Bool
    /// Whether playback waits for media that should be there.
    public var isStalled: Bool
    /// Stalls so far.
    public var stalls: Int
    /// The time that they took.
    public var stallTime: Duration
    /// From the start to the first picture or sound; `nil` before it.
    public var startup: Duration?
    /// How much has been played.
    public var played: Duration

    /// Describes a playhead that has not moved.
    public init(
        position: Duration = .zero, isPlaying: Bool = false, isStalled: Bool = false, stalls: Int = 0,
        stallTime: Duration = .zero, startup: Duration? = nil, played: Duration = .zero
    ) {
        self.position = position
        self.isPlaying = isPlaying
        self.isStalled = isStalled
        self.stalls = stalls
        self.stallTime = stallTime
        self.startup = startup
        self.played = played
    }
}
