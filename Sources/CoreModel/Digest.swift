/// A SHA-256 digest.
public struct Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The digest's bytes.
    public var value: Bytes32

    /// Wraps thirty-two bytes as a digest.
    public init(_ value: Bytes32) { self.value = value }

    /// Makes a digest from exactly thirty-two bytes; `nil` for any other count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = Bytes32(bytes) else { return nil }
        self.value = value
    }

    /// All bits zero: the padding leaf of a BEP 52 tree.
    public static let zero = Digest(.zero)

    /// The bytes in order.
    public var bytes: [UInt8] { value.bytes }

    public static func < (left: Digest, right: Digest) -> Bool { left.value < right.value }

    public var description: String { Hexadecimal.encode(bytes) }
}
