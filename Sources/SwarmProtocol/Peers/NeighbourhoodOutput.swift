public import CoreModel
public import Integrity

/// What a neighbourhood wants of its driver.
public enum NeighbourhoodOutput: Sendable {
    /// Open a connection; ``Neighbourhood/opened(_:now:)`` or ``Neighbourhood/lost(_:code:now:)`` answers.
    case dial(LinkID, NetworkAddress)
    /// Send these bytes on a link's connection.
    case transmit(LinkID, [UInt8])
    /// The link is over: forget it and close its connection; at once, or, where it `lingers`, when the other side has read
    /// the last frame and closed, or a second later: closed at once with bytes unread, it would be reset and the frame
    /// lost.
    case close(LinkID, lingers: Bool)
    /// Read no more of a link's connection.
    case pauseReading(LinkID)
    /// Read a link's connection again.
    case resumeReading(LinkID)
    /// Take note.
    case event(NeighbourhoodEvent)
    /// Nothing to do before this instant; `nil` means that only an input can make progress.
    case wait(until: MonotonicInstant?)
}

/// What a neighbourhood tells its driver's owner.
///
/// What is rare and large is indirect: each output is passed on by value several times.
public enum NeighbourhoodEvent: Sendable {
    /// A link is ready: requests may be sent.
    indirect case ready(ReadyPeer)
    /// Something came from a peer: have, leaves, chunk, rejected, requestTimedOut, choked, unchoked, record,
    /// recordRequested or roundTrip. Bytes have not been verified.
    case received(LinkEvent, from: PeerID, on: LinkID)
    /// A claim came in that its maker signed and whose maker the swarm admitted, for the first time. It goes no further
    /// unless ``Neighbourhood/passOn(now:)`` is called before the next poll.
    indirect case claimed(Claim, from: PeerID)
    /// A link that was ready has ended, and all its requests with it.
    case gone(PeerID, LinkID, PeerEnd)
}

/// A peer at the other end of an established link.
public struct ReadyPeer: Sendable {
    /// The link.
    public var link: LinkID
    /// Its name.
    public var peer: PeerID
    /// What the tracker says of it.
    public var certificate: MembershipCertificate
    /// Where it is.
    public var address: NetworkAddress
    /// Whether it uploads.
    public var uploads: Bool
    /// Whether this side opened the link.
    public var isOutgoing: Bool
}

/// Why a link is gone.
public enum PeerEnd: Hashable, Sendable {
    /// One of the sides ended it, by the protocol's rules.
    case link(LinkEnd)
    /// The connection broke; the code is the system's.
    case connection(code: Int32)
    /// The driver was closed. No event says so.
    case closed
}
