/// A rendition of a stream, as the authority that signed it named it: the first eight bytes of the SHA-256 digest of
/// the rendition's canonical description.
public struct RenditionKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The key as a big-endian number.
    public var rawValue: UInt64

    /// Wraps a key's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: RenditionKey, right: RenditionKey) -> Bool { left.rawValue < right.rawValue }

    public var description: String { Hexadecimal.encode(rawValue.bigEndianBytes) }
}
