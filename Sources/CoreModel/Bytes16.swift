/// Sixteen bytes by value: cheap to compare, hash and copy.
public struct Bytes16: Hashable, Comparable, Sendable {
    /// The first eight bytes, big-endian.
    public var high: UInt64
    /// The last eight bytes, big-endian.
    public var low: UInt64

    /// Makes the value from its two big-endian halves.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes the value from exactly sixteen bytes; `nil` for any other count.
    @inlinable
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
        self.init(high: high, low: low)
    }

    /// The bytes in order.
    public var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    public static func < (left: Bytes16, right: Bytes16) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
