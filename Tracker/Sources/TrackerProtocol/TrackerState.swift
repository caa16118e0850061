public import CoreModel

/// How a viewer stands with its trackers. Playback never depends on it.
public enum TrackerState: Hashable, Sendable {
    /// Not started.
    case idle
    /// A connection to the tracker at this address is being made or admitted.
    case connecting(url: String)
    /// The tracker at this address has admitted the viewer.
    case joined(url: String)
    /// No tracker is in use before this instant, because of what the last one did.
    case waiting(until: MonotonicInstant, reason: TrackerFailure)
    /// Every tracker has refused for good; only a changed request (another token) helps.
    case refused(reason: TrackerFailure)
    /// Stopped by the viewer.
    case stopped
}
