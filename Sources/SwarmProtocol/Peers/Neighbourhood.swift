public import CoreModel
internal import Integrity

/// A viewer's links to other viewers: dials, checks certificates, bans, passes on peers and claims, and holds uploads to
/// their caps. It does no I/O: a driver with sockets carries it out, or the simulator.
///
/// Feed it with ``opened(_:now:)``, ``receive(_:on:now:)``, ``drained(_:now:)``, ``lost(_:code:now:)`` and the commands;
/// after each input call ``poll(now:environment:)`` until it returns `.wait`, then do nothing before the next input or the
/// given instant. Commands may be given between two polls, in answer to an event, too. `now` never goes backwards.
///
/// Nothing happens before ``join(certificate:key:listenPort:now:)``: without a certificate there is no identity to show.
/// Bytes that come from peers go out unverified; who verifies them answers with ``ban(_:)`` when they are provably bad.
///
/// What it tracks:
/// - *Links*, by ``LinkID``: from the dial or the accepted connection to their end. One is *kept* from the hello on,
///   unless another link to the same peer is kept instead.
/// - *Candidates*: peers that could be dialled, with their addresses and back-off.
/// - *Due* links: those that have had an input, or whose deadline has come.
/// - *Turns*: with a cap on the rate of uploads, the links send a data frame each in turn.
///
/// Control frames go to the transport at once. A data frame goes only when the transport has taken all before it, the
/// upload budget allows it, and what is unacknowledged fits into the pacer's window; so a control frame never waits
/// behind more than one data frame and what the pacer lets into the line's queue.
public struct Neighbourhood: Sendable {
    /// The choices in force.
    public private(set) var configuration: NeighbourhoodConfiguration
    /// The swarm that the links belong to.
    public let swarm: SwarmID
    /// The tracker keys whose certificates are trusted.
    public var membershipKeys: [VerificationKey]
    /// Whether a tracker answers. While none does, certificates that have run out are accepted for some hours.
    public var isTrackerAnswering = true
    /// Peers that were banned.
    public internal(set) var bans = BanList()
    /// Certificates that were refused, by why: the figure behind a swarm that doesn't come together.
    public internal(set) var refusedCertificateCount = 0
    /// The links that are ready.
    public internal(set) var linkCount = 0
    /// The caps on upload; a new value holds from the next frame on.
    public var uploadCaps: UploadCaps {
        get { budget.caps }
        set { budget.caps = newValue }
    }

    let suite: any CryptoSuite
    var identity: LinkIdentity?
    /// The links by their slot.
    var neighbours: [Neighbour] = []
    /// Whether each slot's link has requests that wait for chunks of this side's; apart from the links, since every chunk
    /// that comes in asks all of them.
    var awaitsChunks: [Bool] = []
    /// When each slot's link has something to do, whatever comes.
    var deadlines: [MonotonicInstant] = []
    /// When links are read again that used up the download.
    var resumptions: [(id: LinkID, at: MonotonicInstant)] = []
    var nextSerial: UInt32 = 0
    /// Slots of links that are due, the next one first from `firstDue` on.
    var due: [Int] = []
    var firstDue = 0
    /// What the driver has not taken yet, the next one first from `firstOutput` on.
    var outputs: [NeighbourhoodOutput] = []
    var firstOutput = 0
    /// Of ``deadlines`` and ``resumptions``, as of the last `.wait`.
    var earliestDeadline: MonotonicInstant = .distantFuture
    /// When somebody is dialled, or told of peers.
    var nextTick: MonotonicInstant = .distantFuture

    var directory: PeerDirectory
    var announcer = HoldingAnnouncer()
    /// When a link was told last of what this side holds, and when the next one is.
    var announcedAt: MonotonicInstant = .origin
    var nextAnnouncement: MonotonicInstant = .distantFuture
    /// All links are to be told at once.
    var announcesToAll = false
    var seenClaims = SeenSet()
    var claimers = ClaimLimiter()
    /// A claim that waits for the word to pass it on.
    var pendingClaim: (frame: ClaimFrame, claimer: PeerID, sender: LinkID)?
    var handshakes = HandshakeLimiter()

    var budget: UploadBudget
    var downlink: TokenBucket
    var isChoking = false
    /// Since when the share of upload has been used up.
    var shareUsedUpAt: MonotonicInstant = .distantFuture
    /// Who may upload.
    var uploads = UploadSlots()
    /// The slot whose turn it is to upload, while there is a cap on the rate.
    var uploading: Int?
    /// Turns that are left of a round; `nil` outside of one.
    var turnsLeft: Int?
    var nextTurn = 0
    /// When the next round of turns begins.
    var nextRound: MonotonicInstant = .distantFuture
    /// Jitter and choice of peers to pass on; nothing secret.
    var generator: SeededGenerator
    /// What ended links have moved.
    var endedStatistics = LinkStatistics()

    /// Makes a neighbourhood that waits for its certificate.
    ///
    /// - Parameter generator: The source of jitter and of the choice of peers to pass on; nothing secret.
    public init(
        configuration: NeighbourhoodConfiguration, swarm: SwarmID, membershipKeys: [VerificationKey],
        suite: any CryptoSuite, generator: SeededGenerator, now: MonotonicInstant
    ) {
        self.configuration = configuration
        self.swarm = swarm
        self.membershipKeys = membershipKeys
        self.suite = suite
        self.generator = generator
        directory = PeerDirectory(limit: configuration.maximumCandidateCount)
        budget = UploadBudget(caps: configuration.uploadCaps, now: now)
        downlink = TokenBucket(capacity: 0, now: now)
    }

    // MARK: State

    /// This side's name, once it has a certificate.
    public var peerID: PeerID? { identity?.peerID }

    /// The established links' peers, in the order of their coming.
    public var peers: [ReadyPeer] {
        neighbours.indices.compactMap { neighbours[$0].readyPeer }.sorted { $0.link.serial < $1.link.serial }
    }

    /// All links, those that are not ready yet too.
    public var links: [LinkID] { neighbours.indices.compactMap { neighbours[$0].isTaken ? neighbours[$0].id : nil } }

    /// What all links have moved, also those that ended.
    public var statistics: LinkStatistics {
        // By index: a copy of a neighbour touches a dozen reference counts.
        neighbours.indices.reduce(into: endedStatistics) { $0 += neighbours[$1].link.statistics }
    }

    /// The link that is kept to a peer.
    public func link(to peer: PeerID) -> LinkID? {
        for slot in neighbours.indices
        where neighbours[slot].flags.contains(.isKept) && neighbours[slot].link.remoteKey == peer {
            return neighbours[slot].id
        }
        return nil
    }

    /// Payload bytes that a link has sent; 0 when it is gone.
    public func sentPayloadByteCount(of id: LinkID) -> UInt64 {
        slot(of: id).map { neighbours[$0].link.statistics.sentPayloadByteCount } ?? 0
    }

    /// Establishes no more links than this, and never more than before; those that are there stay.
    public mutating func limitLinks(to count: Int) {
        configuration.maximumLinkCount = min(configuration.maximumLinkCount, count)
        configuration.maximumOutgoingLinkCount = min(configuration.maximumOutgoingLinkCount, count)
    }

    // MARK: Pieces that the other files use

    /// The slot of a link that is still there.
    func slot(of id: LinkID) -> Int? {
        guard id.slot < neighbours.count, neighbours[id.slot].id == id, neighbours[id.slot].isTaken else { return nil }
        return id.slot
    }

    /// Has ``poll(now:environment:)`` look at a link.
    mutating func markDue(_ slot: Int) {
        guard neighbours[slot].flags.isDisjoint(with: [.isDue, .isFree]) else { return }
        neighbours[slot].flags.insert(.isDue)
        due.append(slot)
    }

    mutating func put(_ output: NeighbourhoodOutput) { outputs.append(output) }

    /// Sends a frame to a link if it is established.
    mutating func send(_ frame: [UInt8], slot: Int) {
        if neighbours[slot].link.send(encoded: frame) { markDue(slot) }
    }

    /// Sends a frame that was encoded once to every established link.
    mutating func broadcast(_ frame: [UInt8]) {
        for slot in neighbours.indices { send(frame, slot: slot) }
    }
}
