/// Thirty-two bytes by value: a digest or a key, cheap to compare, hash and copy.
///
/// `==` takes a time that depends on the content, so never compare secrets with it.
public struct Bytes32: Hashable, Comparable, Sendable {
    /// The four big-endian words in order.
    public var words: (UInt64, UInt64, UInt64, UInt64)

    /// Makes the value from its big-endian words.
    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Makes the value from exactly thirty-two bytes; `nil` for any other count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        let contiguous = Array(bytes)
        self.init(
            words: (
                UInt64(bigEndianBytes: contiguous[0..<8]), UInt64(bigEndianBytes: contiguous[8..<16]),
                UInt64(bigEndianBytes: contiguous[16..<24]), UInt64(bigEndianBytes: contiguous[24..<32])
            ))
    }

    /// All bits zero.
    public static let zero = Bytes32(words: (0, 0, 0, 0))

    /// The bytes in order.
    public var bytes: [UInt8] {
        words.0.bigEndianBytes + words.1.bigEndianBytes + words.2.bigEndianBytes + words.3.bigEndianBytes
    }

    public static func == (left: Bytes32, right: Bytes32) -> Bool { left.words == right.words }

    public static func < (left: Bytes32, right: Bytes32) -> Bool { left.words < right.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
