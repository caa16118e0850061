internal import CoreModel
internal import Integrity

/// A link of a neighbourhood and what is remembered beside it.
struct Neighbour: Sendable {
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The connection is up.
        static let isOpen = Flags(rawValue: 1)
        /// The link is the one that is kept of its peer's: its events count.
        static let isKept = Flags(rawValue: 2)
        /// It was dialled by its peer's name, which the directory knows.
        static let isNamed = Flags(rawValue: 4)
        /// The peer said that it uploads.
        static let uploads = Flags(rawValue: 8)
        /// It waits for its turn in ``Neighbourhood/poll(now:environment:)``.
        static let isDue = Flags(rawValue: 16)
        /// Bytes have gone to the transport since its queue was looked at.
        static let hasTransmitted = Flags(rawValue: 32)
        /// Its connection is not read.
        static let isPaused = Flags(rawValue: 64)
        /// The slot is free; what is left in it does nothing.
        static let isFree = Flags(rawValue: 128)
    }

    let id: LinkID
    /// Where the other side is; its port is the one dialled, or the ephemeral one of an incoming connection.
    let address: NetworkAddress
    var flags: Flags
    /// Where the other side listens, by its hello; 0 for nowhere.
    var listenPort: UInt16 = 0
    var link: PeerLink
    /// The other side's certificate, once it holds.
    var certificate: CertificateBox?
    /// None, or the one that paces uploads: on the heap, since many links never upload.
    var pacing: [LinkPacing] = []
    /// When the link is told of other peers next.
    var nextExchange: MonotonicInstant = .distantFuture
    /// When the link may tell of other peers again.
    var nextExchangeAccepted: MonotonicInstant = .origin
    /// The version of what this side holds that the link was told of, and when.
    var toldVersion: UInt32 = 0
    var toldAt: MonotonicInstant = .origin
    /// What the peer said that it has all of: it need not be told of these.
    var completeRoots = CompleteRoots()
    /// What may be passed on of others' claims.
    var relays: TokenBucket

    /// Whether this side opened the connection.
    var isOutgoing: Bool { link.role == .initiator }

    /// The peer whose link this is, once both have said hello and it is the one that is kept.
    var peer: PeerID? { flags.contains(.isKept) ? link.peer : nil }

    /// Whether there is something to upload.
    var hasUploads: Bool { link.isEstablished && link.hasReadyChunks }

    /// Whether there is a link in the slot.
    var isTaken: Bool { !flags.contains(.isFree) }

    /// What others may be told of the peer.
    var readyPeer: ReadyPeer? {
        guard link.isEstablished, let peer = link.peer, let certificate = certificate?.certificate else { return nil }
        return ReadyPeer(
            link: id, peer: peer, certificate: certificate, address: address,
            uploads: flags.contains(.uploads) && !certificate.flags.contains(.leechOnly), isOutgoing: isOutgoing)
    }

    /// Ends the link and frees its slot.
    mutating func release() {
        link.connectionLost()
        link.statistics = LinkStatistics()
        flags = .isFree
        certificate = nil
        pacing = []
        nextExchange = .distantFuture
        completeRoots = CompleteRoots()
    }

    /// Takes note of what the peer says that it holds.
    ///
    /// - Returns: Whether it may want again what it was not told of.
    mutating func note(_ entries: [HaveEntry]) -> Bool {
        var isNeedy = false
        for entry in entries {
            if case .complete = entry.change {
                if !completeRoots.contains(entry.root) { completeRoots.append(entry.root) }
            } else if completeRoots.remove(entry.root) {
                isNeedy = true
            }
        }
        return isNeedy
    }
}
