package import CoreModel
package import SwarmProtocol

/// How a viewer meets other viewers.
package struct PeerManagerConfiguration: Sendable {
    /// Where to listen; `nil` for not at all. Port 0 lets the system choose.
    package var listenAddress: NetworkAddress? = NetworkAddress(ipv4: 0, port: 0)
    /// The address that outgoing links come from, its port ignored; `nil` lets the system choose.
    package var sourceAddress: NetworkAddress?
    /// Whether links go to private and loopback addresses only, whoever opens them.
    package var isLocalOnly = false
    /// Whether this side uploads at all. False makes every request be rejected.
    package var uploads = true
    /// The caps on upload. `bytesPerSecond` is the limiter at the socket (`--uplink`).
    package var uploadCaps = UploadCaps()
    /// Bytes per second that are read from peers (`--downlink`); `nil` for no limit.
    package var downloadBytesPerSecond: Double?
    /// Established links. 25 is what the existing systems settled on.
    package var maximumLinkCount = 25
    /// Established links that this side opened; the rest is left for those who open one to it.
    package var maximumOutgoingLinkCount = 20
    /// Links to one /24 or /48, private addresses and loopback exempt: a prefix must not fill the table.
    package var maximumLinkCountPerPrefix = 4
    /// Connections that are being dialled.
    package var maximumDialCount = 8
    /// Incoming connections that have not said hello.
    package var maximumStrangerCount = 32
    /// When a new link is told of other peers first.
    package var firstExchangeDelay: Duration = .seconds(5)
    /// How often a link is told of other peers, give or take a fifth.
    package var exchangeInterval: Duration = .seconds(180)
    /// How long certificates outlive their end while no tracker answers.
    package var certificateGrace: Duration = .seconds(4 * 3600)
    /// Others' claims that are passed on to a link at once. What is more is dropped: sent, it would use up the link's
    /// gossip points (``LinkConfiguration/gossipBurst``), which this side's own frames need.
    package var relayBurst = 100.0
    /// Others' claims that are passed on to a link each second; well below ``LinkConfiguration/gossipRate``.
    package var relayRate = 16.0
    /// Times and bounds of each link.
    package var link = LinkConfiguration()

    /// Makes the defaults.
    package init() {}
}
