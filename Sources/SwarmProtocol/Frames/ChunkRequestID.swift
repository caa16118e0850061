/// The asking side's number of a request: unique among those of the link that have not ended.
public struct ChunkRequestID: Hashable, Comparable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Wraps a number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: ChunkRequestID, right: ChunkRequestID) -> Bool { left.rawValue < right.rawValue }
}
