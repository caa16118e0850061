/// Why a rung was chosen; the code in the decision log.
public enum BitrateReason: String, Sendable, Codable, CaseIterable {
    /// Nothing is known of the network yet.
    case startup
    /// What the throughput sustains.
    case throughput
    /// What the buffer affords.
    case buffer
    /// The buffer would afford more, but the throughput would not sustain it.
    case heldBack
    /// The buffer could run dry before more had arrived.
    case insufficientBuffer
    /// The best outlook over the next segments.
    case outlook
    /// Nearly as good as the best, and peers hold more of it.
    case peersHold
    /// The application, the operator or the screen allows no more.
    case limited
    /// The fetch under way would take too long, and a lower rung arrives sooner.
    case abandoned
    /// The rung that would be chosen doesn't have the segment.
    case unavailable
    /// The viewer has chosen it.
    case manual
}
