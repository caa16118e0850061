/// The asking side's number of a record request: unique among those of the link that have not ended.
public struct RecordRequestID: Hashable, Comparable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Wraps a number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: RecordRequestID, right: RecordRequestID) -> Bool { left.rawValue < right.rawValue }
}
