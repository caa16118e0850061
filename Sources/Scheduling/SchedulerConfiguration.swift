/// The scheduler's constants, each with its unit, range and reason.
public struct SchedulerConfiguration: Sendable, Equatable, Codable {
    /// This viewer's name in fronts and claims.
    public var member = MemberID(rawValue: 0)
    /// Seeds the viewer's own jitter.
    public var seed: UInt64 = 0
    /// How far ahead of the playhead segments are asked of peers. 10 s to 120 s; bounded so that a viewer who leaves has
    /// not cost others much.
    public var peerWindow: Duration = .seconds(60)
    /// How far ahead of the leading viewer the front fetches from the CDN. 8 s to 120 s; long enough to spread through
    /// uplinks of twice the bit rate.
    public var frontWindow: Duration = .seconds(30)
    /// How far ahead a viewer without a swarm fetches. 8 s to 120 s, as players commonly do.
    public var aloneWindow: Duration = .seconds(30)
    /// The most bytes that lie ahead of the playhead, fetched or asked for. 1 MiB and more.
    public var windowByteCount = 64 << 20
    /// Stripes of the first segment that come from the CDN at once, at least, so that the first frame never waits for a
    /// peer.
    public var startupStripes = 2
    /// What playback begins with comes from the CDN without waiting for peers, up to so much behind the playhead: more than
    /// players want to begin with.
    public var startupSpan: Duration = .milliseconds(750)
    /// The time a hand-over to the CDN adds to the transfer's own: a request's round trips and a decoder's needs.
    public var handoverMargin: Duration = .milliseconds(500)
    /// The same while the first segment starts; smaller, since the viewer waits or has just begun.
    public var startupMargin: Duration = .milliseconds(250)
    /// While the CDN sends what is played within this span, peers are asked for nothing that is played later.
    public var tightSpan: Duration = .milliseconds(750)
    /// The most time before playback at which a slow CDN is asked for what peers will bring in time.
    public var peerReserve: Duration = .seconds(1)
    /// The span over which hand-overs of viewers with one deadline are spread.
    public var handoverJitter: Duration = .seconds(1)
    /// By how much a transfer may take longer than estimated.
    public var handoverFactor = 1.5
    /// Transfers from the CDN at once for the swarm or ahead of need; urgent ones come on top.
    public var maximumTransfers = 3
    /// Transfers from the CDN at once, urgent ones included.
    public var maximumUrgentTransfers = 6
    /// How long after joining the others' first announcements are waited for before anything is fetched ahead.
    public var settleTime: Duration = .milliseconds(800)
    /// How long a member of the front waits for the one before it to show a stripe before it fetches the stripe itself.
    public var backupDelay: Duration = .milliseconds(1500)
    /// How many members stand behind the owner of a stripe before only deadlines count.
    public var backupRanks = 3
    /// The span of an election's waiting times.
    public var electionSpan: Duration = .seconds(2)
    /// How long a claim holds without a verified chunk.
    public var claimLife: Duration = .seconds(4)
    /// A peer that has sent nothing for this long while asked is stalled.
    public var peerStall: Duration = .seconds(2)
    /// What a peer may have outstanding, in seconds of its measured rate.
    public var peerQueue: Duration = .seconds(2)
    /// The same for segments with little time, of which each peer brings what fewest have.
    public var tightPeerQueue: Duration = .milliseconds(500)
    /// A segment that had less time than this when it was first wanted has little of it: live, or just after a start.
    public var tightRoom: Duration = .seconds(15)
    /// What all peers may have outstanding of a segment with little time, in seconds of its playback.
    public var tightOutstanding: Duration = .milliseconds(1200)
    /// Of a segment with little time, what is played sooner than this is asked for in order; before that what fewest have.
    public var orderedSpan: Duration = .seconds(2)
    /// The time left that is named for chunks which hardly anybody has, so that they are sent before others.
    public var rareTimeLeft: Duration = .seconds(2)
    /// What else would be due within this is handed over to the CDN together with what is due.
    public var handoverLead: Duration = .milliseconds(750)
    /// Stalls after which a peer is dropped.
    public var maximumPeerStalls = 3
    /// The rate taken for a peer that has sent nothing yet, in bytes per second.
    public var unprovenPeerRate = 250_000.0
    /// The rate taken for the CDN before the first transfer, in bytes per second.
    public var unprovenCDNRate = 1_000_000.0
    /// The time to the first byte taken for the CDN before the first transfer.
    public var unprovenCDNLatency: Duration = .milliseconds(100)
    /// The time for which the CDN must have failed for one segment before the segment counts as gone, unless it says
    /// so itself; outages are shorter.
    public var segmentPatience: Duration = .seconds(30)
    /// The most time between two attempts to have a segment from a CDN that fails.
    public var maximumRetryDelay: Duration = .seconds(2)
    /// Inputs within this span share one pass, which keeps the cost of a busy viewer low.
    public var passInterval: Duration = .milliseconds(10)
    /// Whether the CDN may be asked for ranges; off for CDNs that mishandle them.
    public var usesRanges = true

    /// The defaults, right for a viewer at home.
    public init() {}
}
