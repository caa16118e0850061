public import CoreModel

/// How a live presentation is followed.
public struct LiveConfiguration: Sendable, Equatable {
    /// How far behind the live edge to play; `nil` for what the manifest says.
    public var targetLatency: Duration?
    /// Whether partial segments are played: the latency is then reckoned from the last of them, and playlists are asked for
    /// with each.
    public var usesParts = false
    /// Waiting times are never shorter, whatever a manifest says.
    public var minimumRefreshInterval: Duration = .milliseconds(500)
    /// How long to wait before asking again for what failed: doubles each time, up to eight times this.
    public var retryInterval: Duration = .seconds(1)

    /// Follows what the manifest says.
    public init() {}
}

/// What can be played of a live presentation now.
public struct LiveWindow: Sendable, Equatable {
    /// Where the first segment begins that can still be had.
    public var start: MediaTime
    /// Where the last one ends.
    public var end: MediaTime
    /// What is being produced now. Latency is counted from here.
    public var edge: MediaTime
}
