package import CoreModel
package import SwarmProtocol

/// Where a viewer's links come from and go to, and what is decided about them.
package struct PeerManagerConfiguration: Sendable {
    /// Where to listen; `nil` for not at all. Port 0 lets the system choose.
    package var listenAddress: NetworkAddress? = NetworkAddress(ipv4: 0, port: 0)
    /// The address that outgoing links come from, its port ignored; `nil` lets the system choose.
    package var sourceAddress: NetworkAddress?
    /// How the viewer meets other viewers.
    package var neighbourhood = NeighbourhoodConfiguration()

    /// Makes the defaults.
    package init() {}
}
