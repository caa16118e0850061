package import CoreModel
package import Integrity
package import SwarmProtocol

/// Who a ``PeerManager`` reports to; called on the loop. Calls back into the manager are allowed.
package protocol PeerManagerDelegate: AnyObject {
    /// A link is ready: requests may be sent.
    func peerReady(_ peer: ReadyPeer)

    /// Something came from a peer: have, leaves, chunk, rejected, requestTimedOut, choked, unchoked, record,
    /// recordRequested or roundTrip. Bytes have not been verified.
    func peer(_ peer: PeerID, did event: LinkEvent)

    /// A link ended, and all its requests with it.
    func peerGone(_ peer: PeerID, _ end: PeerEnd)

    /// A claim came in that its maker signed and whose maker the swarm admitted, for the first time.
    ///
    /// - Returns: Whether to pass it on: false for one made before its time, or of a segment that is not known here.
    func received(_ claim: Claim, from peer: PeerID) -> Bool
}
