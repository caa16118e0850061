/// The operator's name of a stream: sixteen bytes, the same for the HLS and DASH manifests of one title.
public struct StreamID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The identifier's bytes.
    public var value: Bytes16

    /// Wraps sixteen bytes as a stream identifier.
    public init(_ value: Bytes16) { self.value = value }

    public static func < (left: StreamID, right: StreamID) -> Bool { left.value < right.value }

    public var description: String { Hexadecimal.encode(value.bytes) }
}
