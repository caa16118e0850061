/// A control connection as the server numbers it.
public struct ConnectionKey: Hashable, Comparable, Sendable {
    /// The server's number; never used twice.
    public var rawValue: UInt64

    /// Wraps the server's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: ConnectionKey, right: ConnectionKey) -> Bool { left.rawValue < right.rawValue }
}
