extension FixedWidthInteger where Self: UnsignedInteger {
    /// Makes the number that `bytes` spell in network order; only the last bytes that fit count.
    @inlinable
    public init(bigEndianBytes bytes: some Sequence<UInt8>) {
        var value: Self = 0
        for byte in bytes { value = (value << 8) | Self(truncatingIfNeeded: byte) }
        self = value
    }

    /// The number's bytes in network order.
    @inlinable public var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
