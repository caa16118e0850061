/// A cursor over bytes from outside, in network order. Each read checks what remains first.
public struct WireReader: Sendable {
    @usableFromInline let bytes: ArraySlice<UInt8>
    @usableFromInline var index: Int

    /// Reads `bytes` from the start. No copy is made.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    /// Reads `bytes` from the start. No copy is made.
    public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Bytes not yet read.
    @inlinable public var remaining: Int { bytes.endIndex - index }

    /// Reads an unsigned number in network order.
    @inlinable
    public mutating func integer<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) throws(WireError) -> Number {
        let size = Number.bitWidth / 8
        try require(size)
        var value: Number = 0
        for offset in 0..<size { value = value << 8 | Number(truncatingIfNeeded: bytes[index + offset]) }
        index += size
        return value
    }

    /// Reads `count` bytes without copying them.
    public mutating func slice(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        try require(count)
        defer { index += count }
        return bytes[index..<index + count]
    }

    /// Reads the bytes that are left.
    public mutating func rest() -> ArraySlice<UInt8> {
        defer { index = bytes.endIndex }
        return bytes[index...]
    }

    /// Reads sixteen bytes.
    public mutating func bytes16() throws(WireError) -> Bytes16 {
        Bytes16(high: try integer(), low: try integer())
    }

    /// Reads thirty-two bytes.
    public mutating func bytes32() throws(WireError) -> Bytes32 {
        if remaining >= 32 {
            let value = Self.bytes32(bytes.span.bytes, index - bytes.startIndex)
            index += 32
            return value
        }
        return Bytes32(words: (try integer(), try integer(), try integer(), try integer()))
    }

    /// The same word by word, where there are as many.
    private static func bytes32(_ span: RawSpan, _ offset: Int) -> Bytes32 {
        Bytes32(
            words: (
                word(span, offset), word(span, offset + 8), word(span, offset + 16), word(span, offset + 24)
            ))
    }

    private static func word(_ span: RawSpan, _ offset: Int) -> UInt64 {
        UInt64(bigEndian: span.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Reads a digest.
    public mutating func digest() throws(WireError) -> Digest { Digest(try bytes32()) }

    /// Reads a run of bytes that a 16-bit length precedes.
    public mutating func prefixed16(_ field: String, limit: Int) throws(WireError) -> ArraySlice<UInt8> {
        let count = Int(try integer(UInt16.self))
        guard count <= limit else { throw .tooLarge(field: field, value: count, limit: limit) }
        return try slice(count)
    }

    /// Checks that everything has been read.
    public func finish() throws(WireError) {
        guard remaining == 0 else { throw .trailing(byteCount: remaining) }
    }

    @inlinable
    func require(_ count: Int) throws(WireError) {
        guard count >= 0, count <= remaining else { throw .truncated(needed: count, available: remaining) }
    }
}
