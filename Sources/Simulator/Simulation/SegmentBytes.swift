/// What was delivered of one segment of the stream, to all viewers together.
struct SegmentBytes: Sendable {
    /// Received from the CDN, used or not.
    var cdn = 0
    /// Handed to players for the first time.
    var delivered = 0
    /// Up to here, from the segment's start, somebody has been handed its bytes: the distinct ones among ``delivered``.
    var reached = 0
}
