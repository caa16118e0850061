/// Thirty-two bytes by value: a digest or a key, cheap to compare, hash and copy.
///
/// `==` takes a time that depends on the content, so never compare secrets with it.
public struct Bytes32: Hashable, Comparable, Sendable {
    /// The four big-endian words in order.
    public var words: (UInt64, UInt64, UInt64, UInt64)

    /// Makes the value from its big-endian words.
    @inlinable
    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Makes the value from exactly thirty-two bytes; `nil` for any other count.
    @inlinable
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        // Each word passes its highest byte on to the one before it.
        for byte in bytes {
            first = first << 8 | second >> 56
            second = second << 8 | third >> 56
            third = third << 8 | fourth >> 56
            fourth = fourth << 8 | UInt64(byte)
        }
        self.init(words: (first, second, third, fourth))
    }

    /// All bits zero.
    public static let zero = Bytes32(words: (0, 0, 0, 0))

    /// The bytes in order.
    public var bytes: [UInt8] {
        let spelled = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return withUnsafeBytes(of: spelled) { Array($0) }
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
