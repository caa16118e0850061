package import Scheduling

/// A title for playing on a trace: a ladder, and how large each segment is at each rung.
package struct TraceMovie: Sendable, Equatable {
    /// The rungs.
    package let ladder: BitrateLadder
    /// Duration of each segment.
    package let segmentMilliseconds: Double
    /// Bits of each segment at each rung; at least one segment.
    package let segmentBits: [[Double]]

    /// - Returns: `nil` when there is no segment, or a segment has not one size above zero per rung.
    package init?(ladder: BitrateLadder, segmentMilliseconds: Double, segmentBits: [[Double]]) {
        guard segmentMilliseconds > 0, !segmentBits.isEmpty else { return nil }
        guard segmentBits.allSatisfy({ $0.count == ladder.count && $0.allSatisfy { $0 > 0 } }) else { return nil }
        self.ladder = ladder
        self.segmentMilliseconds = segmentMilliseconds
        self.segmentBits = segmentBits
    }
}
