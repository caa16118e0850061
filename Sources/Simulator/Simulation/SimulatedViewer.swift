internal import CoreModel
internal import Integrity
internal import NetworkEmulator
internal import Scheduling
internal import SwarmProtocol
internal import TrackerProtocol
internal import ViewerCore

/// One viewer while it is there: the production state machines and what `ViewerSession`, `SwarmMembership` and `PeerManager`
/// do between them, with the simulation's clock and network in place of sockets.
final class SimulatedViewer {
    /// What it is woken for.
    enum Wake: Int {
        case scheduler, neighbourhood, tracker, look, player
    }

    /// A media transfer from the CDN.
    struct Fetch {
        var id: TransferID
        var index: Int
        var reason: Reason
        var chunks: Range<Int>
        /// The next byte's place in the segment.
        var offset: Int
        var end: Int
        var hasResponded = false
        var startedAt: MonotonicInstant
        /// The simulation's number of the transfer.
        var transfer: Int
    }

    /// The connection under a link.
    struct Transport {
        var id: LinkID
        /// The direction away from this viewer; -1 once the connection is over.
        var flow: FlowID
        var sentByteCount = 0
        var payloadByteCount: UInt64 = 0
        var waitsForRoom = false
    }

    /// How often the playhead is looked at.
    static let tick: Duration = .milliseconds(100)
    static let startupSpan: Duration = .seconds(10)
    /// How far ahead of the playhead media is handed to the player.
    static let feedAhead: Duration = .seconds(15)
    /// With less than this in hand a player is about to stall.
    private static let starvingSpan: Duration = .milliseconds(500)
    /// How far ahead of the playhead records are loaded.
    static let recordWindow: Duration = .seconds(120)
    /// All viewers share what nobody has touched.
    private static let untouchedLedgers = SparseArray(initial: SegmentLedger())
    /// What a viewer keeps by default, in memory and on the disk.
    static let storeByteCount = (128 + 512) << 20

    unowned(unsafe) let world: Simulation
    let index: Int
    let profile: ViewerProfile
    let node: NodeID
    let address: NetworkAddress
    let key: any AgreementKey
    let claimKey: RoleKey
    @exclusivity(unchecked) var secrets: SeededGenerator
    var trackerGenerator: SeededGenerator
    @exclusivity(unchecked) var figures = ViewerTally()
    /// What the scheduler was told and what it decided; kept for the viewer that is to be explained.
    @exclusivity(unchecked) var decisions: [DecisionEntry]?

    // What is touched several times for each message is lent to nobody who comes back for it meanwhile: the machines call
    // nothing but the environment, which asks for other things. So nothing is checked at run time.

    @exclusivity(unchecked) var scheduler: Scheduler
    /// What decides in the scheduler's place when another policy is compared with it.
    @exclusivity(unchecked) var rival: (any FetchPolicy)?
    /// Whether there is one; to look for it would copy it.
    let hasRival: Bool
    @exclusivity(unchecked) var neighbourhood: Neighbourhood
    @exclusivity(unchecked) var books = PeerBooks()
    var tracker: TrackerSession?
    @exclusivity(unchecked) var player: PlaybackClock

    @exclusivity(unchecked) var isOnline = true
    /// When it is woken, by what for.
    @exclusivity(unchecked) var alarms: InlineArray<5, MonotonicInstant> = .init(repeating: .distantFuture)
    /// What waits until all that has come has been taken up.
    @exclusivity(unchecked) var chores: Chores = []
    @exclusivity(unchecked) var isActing = false
    var isDrainingTracker = false

    // MARK: Session
    @exclusivity(unchecked) var hasTimeline = false
    /// Segments that the viewer knows of.
    @exclusivity(unchecked) var knownSegments = 0
    /// The timeline's first segment, in the stream's numbers.
    @exclusivity(unchecked) var firstSegment = 0
    @exclusivity(unchecked) var ledgers = SimulatedViewer.untouchedLedgers
    /// Which rendition each segment is played at; `nil` where there is one.
    @exclusivity(unchecked) var renditions: RenditionPlan?
    /// Live, with several renditions: segments whose records have come.
    var recorded = ChunkRuns()
    var fetches: [Fetch] = []
    var delivered = ChunkRuns()
    @exclusivity(unchecked) var feedIndex = 0
    var feedOffset = 0
    /// How far into segments the player had come when a seek took it away from them, where they were not over.
    var leftAt: [Int: Int] = [:]
    var heldChunkCount = 0
    var startupUntil = MonotonicInstant.origin
    var reportedStalls = 0

    // MARK: Swarm
    var hasCatalogue = false
    /// Segments before this one have been looked at for records.
    var recordsLoaded = ChunkRuns()
    var certificate: MembershipCertificate?
    var claimSigner: any SigningKey
    var swarmSize = 1
    var frontValidUntil: MonotonicInstant?
    var claimSequence: UInt64 = 0
    var nextSnapshot = MonotonicInstant.origin
    var nextWant = MonotonicInstant.origin
    /// By the links' slots.
    @exclusivity(unchecked) var transports: ContiguousArray<Transport> = []
    /// The real size of the chunk that the store was asked for last.
    @exclusivity(unchecked) var servedByteCount = 0
    var trackerConnection: TrackerSession.ConnectionID?
    var trackerFlow: FlowID?
    /// The store's number of the connection to the tracker.
    var trackerKey = UInt64.max
    /// Idle connections to the CDN.
    var idleFlows: [FlowID] = []

    init(_ world: Simulation, index: Int, node: NodeID) {
        self.world = world
        self.index = index
        self.node = node
        profile = world.population.viewers[index]
        address = Simulation.address(of: index)
        var mixer = SeededGenerator(seed: world.seed &* 0x9FB2_1C65_1E98_DF25 ^ UInt64(index) &* 0xD6E8_FEB8_6659_FD93)
        secrets = SeededGenerator(seed: mixer.next())
        trackerGenerator = SeededGenerator(seed: mixer.next())
        let suite = world.suite
        key = suite.agreementKey(seed: Self.seed(using: &secrets))
        claimSigner = suite.signingKey(seed: Self.seed(using: &secrets))
        claimKey = RoleKey(role: .claim, key: claimSigner, suite: suite)
        var scheduling = world.scheduling
        scheduling.member = PeerID(key.publicKey).memberID
        scheduling.seed = mixer.next() | 1
        scheduling.usesRanges = world.scenario.cdn.servesRanges
        scheduler = Scheduler(configuration: scheduling)
        hasRival = world.windowRules != nil || world.policy == .cdnOnly
        if let rules = world.windowRules {
            rival = WindowedLoading(rules, member: scheduling.member, seed: scheduling.seed)
        } else if world.policy == .cdnOnly {
            rival = SequentialFetching()
        }
        neighbourhood = Neighbourhood(
            configuration: Self.neighbourhoodConfiguration(world.scenario, profile), swarm: world.stream.swarm,
            membershipKeys: [], suite: suite, generator: SeededGenerator(seed: mixer.next()), now: world.now)
        renditions = world.bitrate?.makePlan()
        player = PlaybackClock(at: .nanoseconds(profile.startNanoseconds), now: world.now)
        if index == world.explainedViewer { decisions = [] }
    }

    private static func seed(using generator: inout SeededGenerator) -> Bytes32 {
        Bytes32(words: (generator.next(), generator.next(), generator.next(), generator.next()))
    }

    private static func neighbourhoodConfiguration(
        _ scenario: Scenario, _ profile: ViewerProfile
    ) -> NeighbourhoodConfiguration {
        var configuration = NeighbourhoodConfiguration()
        configuration.uploads = profile.sharing == .uploads
        configuration.maximumLinkCount = scenario.maximumLinkCount
        configuration.maximumOutgoingLinkCount = max(1, scenario.maximumLinkCount * 4 / 5)
        configuration.uploadCaps = scenario.uploads.caps
        if scenario.uploads.usableShare < 1 {
            let usable = Double(profile.upBitsPerSecond) * scenario.uploads.usableShare / 8
            configuration.uploadCaps.bytesPerSecond = min(scenario.uploads.caps.bytesPerSecond ?? .infinity, usable)
        }
        return configuration
    }

    var now: MonotonicInstant { world.now }
    var isPolluting: Bool { profile.conduct == .polluting }
    var givesNothing: Bool { profile.conduct == .freeRiding }

    // MARK: - Life

    func start() {
        world.inboxes[index].isOpen = true
        startupUntil = now.advanced(by: Self.startupSpan)
        arm(.look, at: now.advanced(by: Self.tick))
        if world.usesPeers {
            feed(.swarm(.joining(until: now.advanced(by: .seconds(2)))))
            // Records of a live stream come from the tracker, segment by segment.
            if world.policy.waitsForRecords, !world.stream.isLive {
                world.request(.catalogue, byteCount: Simulation.catalogueByteCount, for: self)
            }
            joinTracker()
        } else {
            feed(.swarm(.off))
        }
        world.request(.manifest, byteCount: Simulation.manifestByteCount, for: self)
    }

    /// Says goodbye; its connections end when what is on its way is out.
    func stop() {
        guard isOnline else { return }
        _ = player.advance(to: now)
        updateReport()
        isOnline = false
        world.inboxes[index].isOpen = false
        feedTracker(.stop)
        neighbourhood.leave()
        driveNow()
        let statistics = neighbourhood.statistics
        figures.messagesSent = Int(clamping: statistics.sentControlCount)
        figures.messagesReceived = Int(clamping: statistics.receivedControlCount)
        figures.bytesSent = statistics.sentByteCount
        figures.online = profile.arrival.duration(to: now)
        for fetch in fetches { world.cancel(fetch.transfer) }
        fetches = []
    }

    // MARK: - The scheduler's driver

    /// Tells the scheduler something, and has it decide once all that has come has been taken up.
    func feed(_ input: SchedulerInput) {
        guard isOnline else { return }
        tell(input)
        put(.decide)
    }

    /// Takes several inputs in before anything is decided.
    func feed(_ inputs: [SchedulerInput]) {
        guard isOnline, !inputs.isEmpty else { return }
        for input in inputs { tell(input) }
        put(.decide)
    }

    func tell(_ input: SchedulerInput) {
        decisions?.append(DecisionEntry(time: now, event: .input(input)))
        if hasRival { rival?.handle(input, now: now) } else { scheduler.handle(input, now: now) }
    }

    /// Carries out what the scheduler wants.
    func decideNow() {
        while isOnline {
            let output = hasRival ? rival?.poll(now: now) ?? .wait(until: nil) : scheduler.poll(now: now)
            decisions?.append(DecisionEntry(time: now, event: .output(output)))
            if case .wait(let until) = output {
                // What was begun may make the next segment's choice due.
                if renditions != nil, chooseRenditions() { continue }
                if let until { arm(.scheduler, at: max(now, until)) }
                return
            }
            carryOut(output)
        }
    }

    private func carryOut(_ output: SchedulerOutput) {
        switch output {
        case .fetch(let id, let segment, let chunks, let reason):
            startFetch(id, segment.index, chunks: chunks, reason: reason)
        case .cancelFetch(let id, _): cancelFetch(id)
        case .request(let id, let peer, let segment, let chunks, let timeLeft, _):
            figures.requestsPeers += 1
            renditions?.requested(segment.index, now: now)
            request(id, from: peer, segment.index, chunks: chunks, timeLeft: timeLeft)
        case .cancelRequest(let id, _, let reason):
            figures.requestsCancelled += 1
            if reason == .stalled { figures.requestsTimedOut += 1 }
            if let peer = books.close(id), let link = Self.link(to: peer, &neighbourhood) {
                neighbourhood.cancel(ChunkRequestID(rawValue: id.rawValue), from: link, now: now)
                drive()
            }
        case .claim(let segment, let waited, let owners): claim(segment.index, waited: waited, owners: owners)
        case .drop(let peer, _):
            if let peer = Self.peerID(of: peer, &books), let link = Self.link(to: peer, &neighbourhood) {
                neighbourhood.drop(link, .unresponsive)
                drive()
            }
        case .unreachable: figures.hasFailed = true
        case .wait: break
        }
    }

    // MARK: - Playback

    func look() {
        _ = advancePlayer(looks: false)
        updateReport()
        if renditions != nil { reconsider() }
        pump()
        tickSwarm()
    }

    /// Lets the player's time pass, and looks when its clock has started or stopped.
    @discardableResult func advancePlayer(looks: Bool = true) -> Bool {
        switch player.advance(to: now) {
        case .none:
            armPlayer()
            return false
        case .switched:
            armPlayer()
            if looks {
                updateReport()
                pump()
            }
            return true
        case .finished:
            figures.hasFinished = true
            if world.leavesAtEnd { world.leave(index) }
            return true
        }
    }

    private func armPlayer() {
        guard let instant = player.nextInstant else { return disarm(.player) }
        // Time passes at least a little, whatever the rounding says.
        arm(.player, at: max(instant, now.advanced(by: .microseconds(1))))
    }

    func updateReport() {
        figures.startup = player.startup
        figures.stalls = player.stalls
        figures.stallTime = player.stallTime
        figures.played = player.played
        if hasTimeline { feed(.playback(position: player.position, isPlaying: player.isPlaying)) }
    }

    func seek(by amount: Duration) {
        guard isOnline, hasTimeline, !world.stream.isLive else { return }
        let end = world.stream.segments.last?.end ?? .zero
        let position = min(max(.zero, player.position + amount), max(.zero, end - .seconds(1)))
        startupUntil = now.advanced(by: Self.startupSpan)
        player.seek(to: position, now: now)
        feed(.seek(position: position))
        if feedOffset > 0 { leftAt[feedIndex] = max(feedOffset, leftAt[feedIndex] ?? 0) }
        feedIndex = world.stream.index(at: position) - firstSegment
        feedOffset = 0
        renditions?.sought { !ledgers[$0].isEmpty }
        pump()
        feed(.timer)
    }

    func pause(for span: Duration) {
        guard isOnline else { return }
        player.pause(now: now)
        updateReport()
        world.schedule(.resume(viewer: index), at: now.advanced(by: span))
    }

    func resume() {
        guard isOnline else { return }
        _ = player.resume(now: now)
        armPlayer()
        updateReport()
    }

    // MARK: - The timeline

    /// The place in the stream of a segment in the rendition that is played.
    func place(_ index: Int) -> Int {
        (renditions?.rung(index) ?? 0) * world.stream.count + firstSegment + index
    }

    func segment(_ index: Int) -> SimulatedStream.Segment { world.stream.segments[place(index)] }

    func geometry(_ index: Int) -> SegmentGeometry { world.stream.segments[place(index)].geometry }

    func manifestArrived() {
        guard isOnline, !hasTimeline else { return }
        hasTimeline = true
        world.prepare(self)
        // The tracker is to know where a viewer of a live stream is, not that it came at the start.
        report()
        feed(.playback(position: player.position, isPlaying: false))
        learnSegments()
        if hasCatalogue { loadRecords() }
        feed(.timer)
    }

    /// Segments that the manifest lists, from the viewer's first on.
    var listedSegments: Int { world.publishedSegments - firstSegment }

    func description(_ index: Int) -> SegmentDescription {
        let segment = segment(index)
        let rate = Double(world.stream.ladder[renditions?.rung(index) ?? 0])
        return SegmentDescription(
            start: segment.start, duration: segment.duration,
            estimatedByteCount: max(1, Int(segment.duration.inSeconds * rate / 8)), playsProgressively: true)
    }

    /// Tells the scheduler of segments that the manifest lists.
    func learnSegments() {
        // With several renditions they become known as they are chosen.
        guard renditions == nil else { return }
        let last = listedSegments
        guard last > knownSegments else { return }
        let first = knownSegments
        let descriptions = (first..<last).map(description)
        ledgers.grow(to: last)
        knownSegments = last
        tell(.segments(track: 0, descriptions))
        guard world.usesPeers, !world.policy.waitsForRecords else { return }
        // What peers have said of the segments is known together with them: nothing is decided in between.
        act { for index in first..<last { adoptRecord(of: index) } }
    }

    /// Has the player handed what is there, once all that has come has been taken up.
    func pump() { put(.pump) }

    /// Hands the player what is there, up to a bounded time ahead.
    func pumpNow() {
        guard isOnline, hasTimeline else { return }
        while feedIndex < knownSegments {
            let place = place(feedIndex)
            guard world.stream.segments[place].start <= player.position + Self.feedAhead, feedSegment(place) else {
                break
            }
        }
        if feedIndex >= listedSegments, !world.stream.isLive, !player.hasEnded {
            player.hasEnded = true
            advancePlayer()
        } else if !player.isPlaying {
            // Not before: a player that starts comes back here.
            advancePlayer()
        }
    }

    /// Hands over what is new of the segment at a place of the stream; true when it is over.
    private func feedSegment(_ place: Int) -> Bool {
        let geometry = world.stream.segments[place].geometry
        let size = geometry.byteCount
        // Who would stall gets the CDN's bytes as they come.
        let isStarving = !player.isPlaying || player.reached - player.position < Self.starvingSpan
        let settled = ledgers[feedIndex].contiguousByteCount(geometry)
        let contiguous = isStarving ? ledgers[feedIndex].contiguousReceivedByteCount(geometry) : settled
        let available = isHeldBack(contiguous < size) ? feedOffset : max(feedOffset, contiguous)
        if available > feedOffset {
            let segment = world.stream.segments[place]
            let known = delivered.contains(feedIndex) ? size : leftAt[feedIndex] ?? 0
            let fresh = min(max(feedOffset, known), available)..<available
            figures.bytesStore += fresh.lowerBound - feedOffset
            figures.bytesDelivered += fresh.count
            if !fresh.isEmpty { world.noteDelivered(fresh, of: place) }
            noteShown(fresh.count, of: segment)
            feedOffset = available
            let fraction = Double(available) / Double(size)
            let reached =
                available == size
                ? segment.end : segment.start + .clamping(seconds: segment.duration.inSeconds * fraction)
            player.reached = max(player.reached, reached)
        }
        guard available == size else { return false }
        if delivered.insert(feedIndex) { figures.segments += 1 }
        noteSwitch()
        feedIndex += 1
        feedOffset = 0
        evict()
        return true
    }

    /// Keeps the media in memory within its bound: what lies furthest behind the playhead goes first.
    private func evict() {
        let limit = world.policy.storeByteCount / SegmentGeometry.chunkByteCount
        guard heldChunkCount > limit else { return }
        for index in 0..<feedIndex where !ledgers[index].isEmpty {
            guard heldChunkCount > limit else { return }
            heldChunkCount -= ledgers[index].present.count
            if ledgers[index].hasRecord {
                neighbourhood.holdingsLost(root: segment(index).root)
                drive()
            }
            ledgers[index].evict()
            renditions?.evicted(index)
            let id = SegmentID(track: 0, index: index)
            feed([.evicted(id)] + books.holdings(of: id, root: segment(index).root))
        }
    }
}

/// A set of numbers that mostly come in order.
struct ChunkRuns {
    /// All below are in it.
    private var prefix = 0
    private var others: [Int] = []

    func contains(_ number: Int) -> Bool { number < prefix || others.contains(number) }

    /// Adds a number; false when it was there.
    mutating func insert(_ number: Int) -> Bool {
        guard !contains(number) else { return false }
        guard number == prefix else {
            others.append(number)
            return true
        }
        prefix += 1
        while let place = others.firstIndex(of: prefix) {
            others.remove(at: place)
            prefix += 1
        }
        return true
    }
}
