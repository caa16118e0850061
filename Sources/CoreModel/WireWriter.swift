/// Collects bytes in network order.
public struct WireWriter: Sendable {
    /// What has been written.
    @inlinable public var bytes: [UInt8] { written }
    @usableFromInline var written: [UInt8] = []

    /// Makes a writer with room for `capacity` bytes.
    public init(capacity: Int = 64) { written.reserveCapacity(capacity) }

    /// Appends a number in network order.
    @inlinable
    public mutating func integer<Number: FixedWidthInteger & UnsignedInteger>(_ value: Number) {
        withUnsafeBytes(of: value.bigEndian) { written.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    @inlinable
    public mutating func append(_ more: some Sequence<UInt8>) { written.append(contentsOf: more) }

    /// Appends sixteen bytes.
    public mutating func append(_ value: Bytes16) {
        integer(value.high)
        integer(value.low)
    }

    /// Appends thirty-two bytes.
    public mutating func append(_ value: Bytes32) {
        integer(value.words.0)
        integer(value.words.1)
        integer(value.words.2)
        integer(value.words.3)
    }

    /// Appends a digest.
    public mutating func append(_ digest: Digest) { append(digest.value) }

    /// Appends bytes with a 16-bit length in front.
    ///
    /// - Precondition: there are at most 65,535 of them.
    @inlinable
    public mutating func prefixed16(_ more: some Collection<UInt8>) {
        precondition(more.count <= Int(UInt16.max), "a 16-bit length holds at most 65,535")
        integer(UInt16(more.count))
        append(more)
    }
}
