/// Why requested chunks don't come.
public enum RejectReason: UInt8, Sendable, CaseIterable {
    /// The peer neither has the chunk nor expects it.
    case absent = 1
    /// The time left ran out.
    case late = 2
    /// The peer's queue is full.
    case busy = 3
    /// The peer is choking.
    case choked = 4
    /// The request was cancelled.
    case cancelled = 5
    /// The peer's upload cap is used up, or it does not upload.
    case capped = 6
}
