/// Collects bytes in network order.
public struct WireWriter: Sendable {
    /// What has been written.
    @inlinable public var bytes: [UInt8] { written }
    @usableFromInline var written: [UInt8] = []

    /// How many bytes have been written.
    @inlinable public var byteCount: Int { written.count }

    /// Makes a writer with room for `capacity` bytes.
    public init(capacity: Int = 64) { written.reserveCapacity(capacity) }

    /// Appends a number in network order.
    @inlinable
    public mutating func integer<Number: FixedWidthInteger & UnsignedInteger>(_ value: Number) {
        withUnsafeBytes(of: value.bigEndian) { written.append(contentsOf: $0) }
    }

    // Small numbers byte by byte: for so few, going through a buffer costs more.

    /// Appends a byte.
    @inlinable
    public mutating func integer(_ value: UInt8) { written.append(value) }

    /// Appends a number of sixteen bits in network order.
    @inlinable
    public mutating func integer(_ value: UInt16) {
        written.append(UInt8(truncatingIfNeeded: value >> 8))
        written.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends a number of thirty-two bits in network order.
    @inlinable
    public mutating func integer(_ value: UInt32) {
        integer(UInt16(truncatingIfNeeded: value >> 16))
        integer(UInt16(truncatingIfNeeded: value))
    }

    /// Puts a number in network order in place of what was written at `offset`.
    ///
    /// - Precondition: as many bytes were written from there on.
    public mutating func replace(at offset: Int, with value: UInt16) {
        written[offset] = UInt8(truncatingIfNeeded: value >> 8)
        written[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    /// The same for a byte.
    public mutating func replace(at offset: Int, with value: UInt8) { written[offset] = value }

    /// Appends bytes as they are.
    @inlinable
    public mutating func append(_ more: some Sequence<UInt8>) { written.append(contentsOf: more) }

    /// Appends sixteen bytes.
    public mutating func append(_ value: Bytes16) {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { written.append(contentsOf: $0) }
    }

    /// Appends thirty-two bytes.
    public mutating func append(_ value: Bytes32) {
        let words = value.words
        let spelled = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        withUnsafeBytes(of: spelled) { written.append(contentsOf: $0) }
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
