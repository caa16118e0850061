/// A segment of one viewer's timeline: the track it belongs to and its place in that track.
///
/// It is local to a viewer: the network speaks of names and roots, the scheduler only of what is played when.
public struct SegmentID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The track, counted from 0 in the order in which the session plays them.
    public var track: Int
    /// The segment's place in the track, counted from 0.
    public var index: Int

    /// Names a segment.
    public init(track: Int, index: Int) {
        self.track = track
        self.index = index
    }

    public static func < (left: SegmentID, right: SegmentID) -> Bool {
        (left.index, left.track) < (right.index, right.track)
    }

    public var description: String { "\(track)/\(index)" }
}
