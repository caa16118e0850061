/// An Ed25519 signature (RFC 8032): 64 bytes.
public struct Signature: Hashable, Sendable {
    /// The first half (R).
    public var first: Bytes32
    /// The second half (S).
    public var second: Bytes32

    /// Makes a signature from its halves.
    public init(first: Bytes32, second: Bytes32) {
        self.first = first
        self.second = second
    }

    /// Makes a signature from exactly 64 bytes; `nil` for any other count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 64, let first = Bytes32(bytes.prefix(32)), let second = Bytes32(bytes.dropFirst(32))
        else { return nil }
        self.init(first: first, second: second)
    }

    /// The bytes in order.
    public var bytes: [UInt8] { first.bytes + second.bytes }
}
