/// The constants of ``WindowedLoading``: p2p-media-loader's defaults, by version.
package struct WindowRules: Sendable {
    /// What brings segments into the swarm that nobody has.
    package enum Seeding: Sendable {
        /// A random one now and then, by the number of peers (2.3.0).
        case random
        /// The one whose hash is lowest among its neighbours, with backups by deadline (5.0).
        case election
    }

    var seeding: Seeding
    /// What is played within this is urgent: `highDemandTimeWindow`, 15 s.
    package var urgentWindow: Duration = .seconds(15)
    /// How far ahead the CDN is asked: `httpDownloadTimeWindow`, 3000 s.
    var cdnWindow: Duration = .seconds(3000)
    /// How far ahead peers are asked: `p2pDownloadTimeWindow`, 6000 s.
    var peerWindow: Duration = .seconds(6000)
    /// What the player asks for ahead of its playhead: 30 s, hls.js's `maxBufferLength`.
    var playerBuffer: Duration = .seconds(30)
    /// `simultaneousHttpDownloads` and `simultaneousP2PDownloads`.
    var maximumTransfers = 2
    var maximumPeerLoads = 3
    /// Silence after which a peer's segment is given up: `p2pNotReceivingBytesTimeoutMs`.
    var peerStall: Duration = .seconds(2)
    /// The same of the CDN, before and after the first byte: `httpFirstByteTimeoutMs`, `httpNotReceivingBytesTimeoutMs`.
    var firstByteStall: Duration = .seconds(10)
    var transferStall: Duration = .seconds(3)
    /// Stalls after which a peer is dropped.
    var maximumPeerStalls = 3
    /// Failures are forgotten after this.
    var memory: Duration = .seconds(60)
    /// Passes without an event are at least so far apart.
    var passInterval: Duration = .seconds(1)
    /// Whether what turns out to be urgent comes from a peer that has all of it already, while there is time to change one's
    /// mind.
    var takesUrgentFromPeers = false
    var usesRanges = true

    /// 2.3.0 as it comes. Its urgent window does not know of the live delay: where that is 15 s and less, all is urgent.
    package static func fixedWindows(_ scenario: Scenario) -> WindowRules {
        var rules = WindowRules(seeding: .random)
        rules.usesRanges = scenario.cdn.servesRanges
        return rules
    }

    /// The 5.0 line, whose windows follow the live delay: the player's buffer ends a segment before the live edge and has
    /// two segments at least; its nearer half, a segment at least and 15 s at most, is urgent.
    package static func hashElection(_ scenario: Scenario) -> WindowRules {
        var rules = WindowRules(seeding: .election)
        rules.usesRanges = scenario.cdn.servesRanges
        rules.takesUrgentFromPeers = true
        guard scenario.stream.kind == .live else { return rules }
        let segment = scenario.stream.segmentDuration
        rules.playerBuffer = max(segment * 2, scenario.stream.liveDelay - segment)
        rules.urgentWindow = max(segment, min(.seconds(15), rules.playerBuffer / 2))
        return rules
    }
}
