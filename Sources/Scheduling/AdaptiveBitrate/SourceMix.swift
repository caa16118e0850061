/// How fast a segment comes from the CDN and from peers at the same time.
struct SourceMix: Sendable, Equatable {
    /// What the CDN gives alone, in kilobits a second.
    let cdn: Double
    /// What peers give alone; 0 when unknown.
    let peers: Double
    /// What this viewer's access link can take at most. Unless it is known, two sources together give no more than the faster
    /// one alone: both come over the same link.
    let access: Double

    init(cdn: Double, peers: Double, access: Double?) {
        self.cdn = cdn
        self.peers = peers
        self.access = access ?? max(cdn, peers)
    }

    /// The rate of a segment of which peers hold `share`, 0 to 1.
    ///
    /// Peers bring what they hold, or as much of it as they bring in the time that the CDN needs for the rest: the scheduler
    /// hands over to the CDN what would be late.
    func rate(peerShare share: Double) -> Double {
        guard peers > 0, share > 0 else { return cdn }
        let fromPeers = min(share, peers / (peers + cdn))
        let slowest = max(fromPeers / peers, (1 - fromPeers) / cdn)
        return min(1 / slowest, max(access, cdn))
    }
}
