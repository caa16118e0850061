public import CoreModel

/// What the scheduler wants done.
public enum SchedulerOutput: Sendable, Equatable, Codable {
    /// Fetch chunks of a segment from the CDN; `nil` for the whole segment without a range.
    case fetch(TransferID, SegmentID, chunks: Range<Int>?, Reason)
    /// Stop a transfer from the CDN.
    case cancelFetch(TransferID, Reason)
    /// Ask a peer for chunks.
    case request(RequestID, PeerKey, SegmentID, chunks: Range<Int>, timeLeft: Duration, Reason)
    /// Take back what was asked of a peer.
    case cancelRequest(RequestID, PeerKey, Reason)
    /// Tell the neighbours that `owners` fetch the segment's stripes, in the order of a front.
    case claim(SegmentID, waited: Duration, owners: [MemberID])
    /// Close the link to a peer.
    case drop(PeerKey, Reason)
    /// A segment can't be had from anywhere.
    case unreachable(SegmentID)
    /// Nothing to do before this instant, or before the next input when `nil`.
    case wait(until: MonotonicInstant?)
}
