extension FixedWidthInteger where Self: UnsignedInteger {
    /// Makes the number that `bytes` spell in network order; only the last bytes that fit count.
    public init(bigEndianBytes bytes: some Sequence<UInt8>) {
        var value: Self = 0
        for byte in bytes { value = (value << 8) | Self(truncatingIfNeeded: byte) }
        self = value
    }

    /// The number's bytes in network order.
    public var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (Self.bitWidth - 8 - $0 * 8)) }
    }
}
