public import CoreModel

/// Peers that were caught with provably bad data, by key and by the credential behind it, so that a reload doesn't help.
///
/// Local to the viewer and kept for the session; what others say of a peer never gets here.
public struct BanList: Sendable {
    /// Names that are kept; beyond, the oldest are forgotten.
    public static let limit = 4096

    private var peers: Set<PeerID> = []
    private var pseudonyms: Set<Bytes16> = []
    private var order: [(peer: PeerID, pseudonym: Bytes16?)] = []

    public init() {}

    /// The number of peers banned.
    public private(set) var count = 0

    /// Bans a peer, and its credential where that is known.
    public mutating func insert(_ peer: PeerID, pseudonym: Bytes16?) {
        guard peers.insert(peer).inserted else { return }
        count += 1
        if let pseudonym { pseudonyms.insert(pseudonym) }
        order.append((peer, pseudonym))
        guard order.count > Self.limit else { return }
        let oldest = order.removeFirst()
        peers.remove(oldest.peer)
        if let pseudonym = oldest.pseudonym { pseudonyms.remove(pseudonym) }
    }

    /// Whether the peer is banned.
    public func contains(_ peer: PeerID) -> Bool { peers.contains(peer) }

    /// Whether the peer or its credential is banned.
    public func contains(_ peer: PeerID, pseudonym: Bytes16) -> Bool {
        peers.contains(peer) || pseudonyms.contains(pseudonym)
    }
}
