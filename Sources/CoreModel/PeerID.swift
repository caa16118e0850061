/// A peer of a swarm, named by its X25519 public key: what a membership certificate binds and a handshake proves.
public struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The public key's bytes.
    public var publicKey: Bytes32

    /// Names the peer that owns `publicKey`.
    public init(_ publicKey: Bytes32) { self.publicKey = publicKey }

    public static func < (left: PeerID, right: PeerID) -> Bool { left.publicKey < right.publicKey }

    /// The first eight bytes in hexadecimal: enough for a log line.
    public var description: String { Hexadecimal.encode(publicKey.words.0.bigEndianBytes) }
}
