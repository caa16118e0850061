/// The identifier under which a stream's viewers meet at a tracker: twenty bytes, derived from the ``StreamID`` and the
/// admission secret, so that knowing the manifest's address is not enough to find a swarm.
public struct SwarmID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first sixteen bytes.
    public var head: Bytes16
    /// The last four bytes, big-endian.
    public var tail: UInt32

    /// Makes an identifier from exactly twenty bytes; `nil` for any other count.
    @inlinable
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 20, let head = Bytes16(bytes.prefix(16)) else { return nil }
        self.head = head
        self.tail = UInt32(bigEndianBytes: bytes.dropFirst(16))
    }

    /// The bytes in order.
    public var bytes: [UInt8] { head.bytes + tail.bigEndianBytes }

    public static func < (left: SwarmID, right: SwarmID) -> Bool {
        (left.head, left.tail) < (right.head, right.tail)
    }

    public var description: String { Hexadecimal.encode(bytes) }
}
