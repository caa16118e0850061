public import CoreModel

/// A peer that the tracker suggests.
public struct PeerCandidate: Hashable, Sendable {
    /// The peer's key, which its handshake proves.
    public var peer: PeerID
    /// Where it accepts links.
    public var address: NetworkAddress
    /// Its play position when it last reported, in milliseconds of the presentation.
    public var positionMilliseconds: UInt64

    /// Makes a candidate.
    public init(peer: PeerID, address: NetworkAddress, positionMilliseconds: UInt64) {
        self.peer = peer
        self.address = address
        self.positionMilliseconds = positionMilliseconds
    }

    init(from reader: inout WireReader) throws(WireError) {
        peer = PeerID(try reader.bytes32())
        address = try NetworkAddress(from: &reader)
        positionMilliseconds = try reader.integer()
    }

    func write(to writer: inout WireWriter) {
        writer.append(peer.publicKey)
        address.write(to: &writer)
        writer.integer(positionMilliseconds)
    }
}
