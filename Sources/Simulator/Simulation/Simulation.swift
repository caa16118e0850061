package import CoreModel
internal import Integrity
internal import NetworkEmulator
internal import Scheduling
internal import TrackerCore
internal import TrackerProtocol

/// A whole swarm in virtual time: viewers with the production state machines, a tracker with its production store, a CDN,
/// and an emulated network between them.
///
/// Equal scenarios and seeds give equal results in every process: events of one instant happen in the order in which they
/// were planned, every random number comes from a sequence of the seed's, and nothing is chosen in the order of a hash
/// table.
///
/// What it leaves out is said in ``SimulationResult/assumptions``.
package final class Simulation {
    /// Something that is planned, in one word: what, a serial number of 24 bits, an index of 32.
    enum Event {
        case arrive(viewer: Int)
        case depart(viewer: Int)
        case remove(viewer: Int)
        case wake(viewer: Int)
        case habit(viewer: Int, event: Int)
        case resume(viewer: Int)
        case impatience(viewer: Int)
        case dialled(Int)
        case connected(transfer: Int, serial: Int)
        case respond(transfer: Int, serial: Int)
        case trackerOpened(viewer: Int, attempt: Int)
        case trackerSends(parcel: Int)
        case trackerCloses(connection: Int)
        case trackerTick
        case trackerOutage(Int)
        case published(Int)
        case discovered(viewer: Int)
        case recorded(viewer: Int, segment: Int)

        init(_ code: UInt64) {
            let index = Int(code & 0xFFFF_FFFF)
            let extra = Int(code >> 32 & 0xFF_FFFF)
            switch code >> 56 {
            case 0: self = .arrive(viewer: index)
            case 1: self = .depart(viewer: index)
            case 2: self = .remove(viewer: index)
            case 3: self = .wake(viewer: index)
            case 4: self = .habit(viewer: index, event: extra)
            case 5: self = .resume(viewer: index)
            case 6: self = .impatience(viewer: index)
            case 7: self = .dialled(index)
            case 8: self = .connected(transfer: index, serial: extra)
            case 9: self = .respond(transfer: index, serial: extra)
            case 10: self = .trackerOpened(viewer: index, attempt: extra)
            case 11: self = .trackerSends(parcel: index)
            case 12: self = .trackerCloses(connection: index)
            case 13: self = .trackerTick
            case 14: self = .trackerOutage(index)
            case 15: self = .published(index)
            case 16: self = .discovered(viewer: index)
            case 17: self = .recorded(viewer: index, segment: extra)
            case let kind: preconditionFailure("an event of kind \(kind)")
            }
        }

        var code: UInt64 {
            switch self {
            case .arrive(let viewer): Self.code(0, viewer)
            case .depart(let viewer): Self.code(1, viewer)
            case .remove(let viewer): Self.code(2, viewer)
            case .wake(let viewer): Self.code(3, viewer)
            case .habit(let viewer, let event): Self.code(4, viewer, event)
            case .resume(let viewer): Self.code(5, viewer)
            case .impatience(let viewer): Self.code(6, viewer)
            case .dialled(let dial): Self.code(7, dial)
            case .connected(let transfer, let serial): Self.code(8, transfer, serial)
            case .respond(let transfer, let serial): Self.code(9, transfer, serial)
            case .trackerOpened(let viewer, let attempt): Self.code(10, viewer, attempt)
            case .trackerSends(let parcel): Self.code(11, parcel)
            case .trackerCloses(let connection): Self.code(12, connection)
            case .trackerTick: Self.code(13, 0)
            case .trackerOutage(let outage): Self.code(14, outage)
            case .published(let segment): Self.code(15, segment)
            case .discovered(let viewer): Self.code(16, viewer)
            case .recorded(let viewer, let segment): Self.code(17, viewer, segment)
            }
        }

        private static func code(_ kind: UInt64, _ index: Int, _ extra: Int = 0) -> UInt64 {
            kind << 56 | UInt64(extra & 0xFF_FFFF) << 32 | UInt64(index)
        }
    }

    /// A connection of the network's, by half its number.
    struct Connection {
        /// Who opened it; -1 when it is free.
        var dialer = -1
        /// A viewer.
        var acceptor = -1
        /// What the link is called at each end while it has one.
        var dialerLink: LinkName?
        var acceptorLink: LinkName?
        /// One way, in nanoseconds.
        var delay: Int64 = 0
        /// Smoothed, in nanoseconds, as each end measures it; 0 before the first sample.
        var dialerRoundTrip: Int64 = 0
        var acceptorRoundTrip: Int64 = 0
        /// Whether each end waits for what it sent to arrive.
        var dialerWaits = false
        var acceptorWaits = false
    }

    /// Bytes under way to a peer or between a viewer and the tracker.
    struct Parcel {
        var bytes: [UInt8]
        /// Bytes of which there are none because a stand-in goes in their place.
        var missing: Int
        /// Bytes of the chunk in it, as the real one has them; 0 without one.
        var payload = 0
        var sentAt: MonotonicInstant
        /// The store's number, to and from the tracker.
        var connection = -1
    }

    struct Dial {
        var viewer: Int
        var link: LinkName
        var target: Int
    }

    let scenario: Scenario
    let seed: UInt64
    package let population: Population
    let suite: any CryptoSuite
    let stream: SimulatedStream
    let scheduling: SchedulerConfiguration
    /// What viewers choose renditions by; `nil` where there is one.
    let bitrate: BitratePlan?
    let policy: DeliveryPolicy
    let windowRules: WindowRules?
    /// Whether who has seen everything leaves.
    let leavesAtEnd = true

    // What is touched several times for each message is not checked for overlapping accesses at run time: none of it is lent to
    // anybody who comes back for it.

    @exclusivity(unchecked) var network: EmulatedNetwork
    @exclusivity(unchecked) var events = EventQueue<UInt64>()
    @exclusivity(unchecked) var now = MonotonicInstant.origin
    @exclusivity(unchecked) var viewers: [SimulatedViewer?]
    @exclusivity(unchecked) var inboxes: ContiguousArray<Inbox>
    @exclusivity(unchecked) var mail = SimulationPool<Mail>()
    @exclusivity(unchecked) var connections: ContiguousArray<Connection> = []
    @exclusivity(unchecked) var parcels = SimulationPool<Parcel>()
    var dials = SimulationPool<Dial>()
    var boxes: [Box?]

    @exclusivity(unchecked) var transfers = SimulationPool<CDNTransfer>()
    var nextSerial = 0
    let cdnNode: NodeID
    let trackerNode: NodeID
    var cdnGenerator: SeededGenerator
    let liveSeed: UInt64

    var store: TrackerStore
    var trackerGenerator: SeededGenerator
    var trackerConnections: [TrackerConnection] = []
    var isTrackerOut = false

    /// Segments that have been published, from the stream's start on.
    @exclusivity(unchecked) var publishedSegments: Int
    /// By place of a segment in the stream.
    var segmentBytes: [SegmentBytes]
    /// Bytes that were delivered to anybody, each counted once.
    var distinctBytes = 0
    var tallies: [ViewerTally]
    @exclusivity(unchecked) var payload = SimulationResult.Payload()
    var maximumFront = 0
    var series: [SimulationResult.Second] = []
    /// All that was counted up to the end of the last second.
    var countedBytes = SimulationResult.Second()
    /// Whose decisions are kept.
    let explainedViewer: Int?
    var decisionLog: DecisionLog?
    private var sharedLinks: [SharedLinkID] = []

    private static let region = (viewers: 0, infrastructure: 1)
    /// The wall clock at the start.
    static let epoch = UnixTime(seconds: 1_800_000_000)

    /// Draws the population and prepares a run.
    ///
    /// - Parameters:
    ///   - viewers: How many, when not as many as the scenario says.
    ///   - suite: The cryptographic primitives.
    ///   - policy: Who decides for the viewers.
    ///   - windowRules: The constants of a policy with windows, in place of its own.
    ///   - explainedViewer: The viewer, by its number in order of arrival, whose decision log is part of the result.
    package init(
        scenario: Scenario, seed: UInt64? = nil, viewers count: Int? = nil, suite: any CryptoSuite = KeyedFakes(),
        policy: DeliveryPolicy = .ours, windowRules: WindowRules? = nil, explaining explainedViewer: Int? = nil
    ) throws(PopulationError) {
        self.scenario = scenario
        let seed = seed ?? scenario.seed
        self.seed = seed
        self.suite = suite
        self.policy = policy
        self.windowRules = windowRules ?? policy.windowRules(scenario)
        self.explainedViewer = explainedViewer
        population = try Population(scenario, seed: seed, count: count)
        try Self.checkSize(scenario, viewers: population.viewers.count)
        scheduling = SchedulerConfiguration()
        stream = SimulatedStream(scenario, seed: seed, suite: suite, time: Self.epoch)
        bitrate = BitratePlan(scenario.stream, scheduling)
        var mixer = SeededGenerator(seed: seed ^ 0x5349_4D55_4C41_5445)
        cdnGenerator = SeededGenerator(seed: mixer.next())
        trackerGenerator = SeededGenerator(seed: mixer.next())
        liveSeed = mixer.next()

        var configuration = NetworkConfiguration()
        configuration.acknowledgementShare = 66.0 / (2 * 1_514)
        let between = max(.zero, scenario.links.between / 2 - Self.inboxDelay / 2)
        configuration.regionDelays = [[between, .zero], [.zero, .zero]]
        if let table = ReachabilityTable(probabilities: scenario.nat.pairProbabilities) {
            configuration.reachability = table
        }
        network = EmulatedNetwork(configuration: configuration)
        cdnNode = network.addNode(
            .contentDeliveryNetwork(
                bitsPerSecond: scenario.cdn.bitsPerSecond.map(Double.init) ?? .infinity, latency: .zero,
                region: Self.region.infrastructure))
        trackerNode = network.addNode(
            NodeConfiguration(
                uplinkBitsPerSecond: .infinity, downlinkBitsPerSecond: .infinity, region: Self.region.infrastructure))
        let key = RoleKey(
            role: .membership, key: suite.signingKey(seed: Bytes32(words: (seed, 4, 5, 6))), suite: suite)
        var tracker = TrackerConfiguration()
        tracker.maximumMemberCount = max(tracker.maximumMemberCount, 2 * population.viewers.count)
        store = TrackerStore(configuration: tracker, key: key, suite: suite)
        let count = population.viewers.count
        viewers = Array(repeating: nil, count: count)
        inboxes = ContiguousArray(repeating: Inbox(), count: count)
        boxes = Array(repeating: nil, count: count)
        tallies = Array(repeating: ViewerTally(), count: count)
        segmentBytes = Array(repeating: SegmentBytes(), count: stream.segments.count)
        publishedSegments = stream.count
        for line in population.sharedLines {
            let kind: SharedLinkConfiguration.Kind =
                if let site = line.site {
                    .site(
                        bitsPerSecond: site.lanBitsPerSecond.map(Double.init) ?? .infinity,
                        delay: max(.zero, site.lanRoundTrip / 2 - Self.inboxDelay / 2))
                } else { .access }
            sharedLinks.append(
                network.addSharedLink(
                    SharedLinkConfiguration(
                        kind: kind, uplinkBitsPerSecond: Double(line.upBitsPerSecond),
                        downlinkBitsPerSecond: Double(line.downBitsPerSecond))))
        }
    }

    /// A chunk takes 32 bytes, and a segment some ten for each viewer.
    private static let chunkLimit = 1 << 24
    private static let segmentLimit = 1 << 31

    private static func checkSize(_ scenario: Scenario, viewers: Int) throws(PopulationError) {
        let stream = scenario.stream
        let seconds = (stream.kind == .live ? stream.window + scenario.duration : stream.length).inSeconds
        let segments = (seconds / stream.segmentDuration.inSeconds).rounded(.up)
        let bytes = stream.playedLadder.reduce(0) { $0 + Double($1) / 8 * seconds }
        let chunks =
            max(bytes / Double(SegmentGeometry.chunkByteCount), 0) + segments * Double(stream.playedLadder.count)
        guard chunks <= Double(chunkLimit) else { throw .tooLongStream(chunks: chunks, limit: chunkLimit) }
        guard segments * Double(viewers) <= Double(segmentLimit) else {
            throw .tooManySegments(viewers: viewers, segments: Int(segments), limit: segmentLimit)
        }
    }

    var usesPeers: Bool { policy.usesPeers }

    /// The wall clock.
    var time: UnixTime { Self.epoch + MonotonicInstant.origin.duration(to: now) }

    func schedule(_ event: Event, at instant: MonotonicInstant) { events.schedule(event.code, at: max(instant, now)) }

    // MARK: - The run

    /// Runs to the end of the scenario.
    ///
    /// - Parameter progress: Told of each second that has been simulated.
    package func run(progress: (Int) -> Void = { _ in }) throws(SimulationError) -> SimulationResult {
        for (index, viewer) in population.viewers.enumerated() { schedule(.arrive(viewer: index), at: viewer.arrival) }
        schedule(.trackerTick, at: .origin)
        for (index, outage) in scenario.tracker.outages.enumerated() {
            schedule(.trackerOutage(2 * index), at: outage.start)
            schedule(.trackerOutage(2 * index + 1), at: outage.end)
        }
        startPublishing()
        var second = 0
        let end = scenario.end
        while now < end {
            let next = MonotonicInstant(nanoseconds: Int64(second + 1) * 1_000_000_000)
            run(until: min(next, end))
            second += 1
            noteSecond()
            progress(second)
        }
        for index in viewers.indices { leave(index) }
        return try finish()
    }

    private func run(until limit: MonotonicInstant) {
        while true {
            let next = min(limit, events.nextTime() ?? limit)
            if let delivery = network.nextDelivery(until: next) {
                now = delivery.time
                take(delivery)
                continue
            }
            guard let (time, event) = events.popFirst(notAfter: next) else {
                if next >= limit {
                    now = limit
                    return
                }
                continue
            }
            now = time
            take(Event(event))
        }
    }

    private func take(_ event: Event) {
        switch event {
        case .arrive(let index): arrive(index)
        case .depart(let index): leave(index)
        case .remove(let index): remove(index)
        case .wake(let index): wake(index)
        case .habit(let index, let event): habit(event, of: index)
        case .resume(let index): viewers[index]?.resume()
        case .impatience(let index): if viewers[index]?.player.startup == nil { leave(index) }
        case .dialled(let dial): dialled(dial)
        case .connected(let transfer, let serial): connected(transfer, serial)
        case .respond(let transfer, let serial): respond(transfer, serial)
        case .trackerOpened(let index, let attempt): trackerOpened(index, attempt)
        case .trackerSends(let parcel): trackerSends(parcel)
        case .trackerCloses(let connection): trackerCloses(connection)
        case .trackerTick: trackerTick()
        case .trackerOutage(let number): trackerOutage(number)
        case .published(let segment): published(segment)
        case .discovered(let index): discovered(index)
        case .recorded(let index, let segment): recorded(segment, by: index)
        }
    }

    // MARK: - Viewers

    /// Where a viewer is: each has a prefix of its own.
    static func address(of index: Int) -> NetworkAddress {
        NetworkAddress(ipv4: UInt32(11 << 16 + index) << 8 | 1, port: 4000)
    }

    /// Whose address this is.
    func viewer(at address: NetworkAddress) -> Int? {
        guard let ipv4 = address.ipv4 else { return nil }
        let index = Int(ipv4 >> 8) - 11 << 16
        return viewers.indices.contains(index) ? index : nil
    }

    private func arrive(_ index: Int) {
        let profile = population.viewers[index]
        let node = network.addNode(
            NodeConfiguration(
                uplinkBitsPerSecond: Double(profile.upBitsPerSecond),
                downlinkBitsPerSecond: Double(profile.downBitsPerSecond),
                accessDelay: .clamping(seconds: Double(profile.roundTripSeconds) / 2), region: Self.region.viewers,
                loss: Double(profile.loss), natType: NATType(rawValue: profile.nat.rawValue),
                sharedLink: profile.sharedLine >= 0 ? sharedLinks[Int(profile.sharedLine)] : nil))
        let viewer = SimulatedViewer(self, index: index, node: node)
        viewers[index] = viewer
        schedule(.depart(viewer: index), at: profile.departure)
        for event in 0..<Int(profile.eventCount) {
            let offset = population.events[Int(profile.firstEvent) + event].offsetNanoseconds
            schedule(.habit(viewer: index, event: event), at: now.advanced(by: .nanoseconds(offset)))
        }
        if profile.patienceSeconds.isFinite {
            schedule(
                .impatience(viewer: index), at: now.advanced(by: .clamping(seconds: Double(profile.patienceSeconds))))
        }
        viewer.act { viewer.start() }
    }

    private func habit(_ number: Int, of index: Int) {
        guard let viewer = viewers[index], viewer.isOnline else { return }
        let event = population.events[Int(viewer.profile.firstEvent) + number]
        switch event.kind {
        case .seek: viewer.seek(by: .nanoseconds(event.amountNanoseconds))
        case .pause: viewer.pause(for: .nanoseconds(event.amountNanoseconds))
        }
    }

    /// A viewer leaves; its node stays until its goodbyes are out.
    func leave(_ index: Int) {
        guard let viewer = viewers[index], viewer.isOnline else { return }
        // What has come counts, and may be all that it was waiting for.
        viewer.act {}
        guard viewer.isOnline else { return }
        viewer.stop()
        tallies[index] = viewer.figures
        if let entries = viewer.decisions {
            decisionLog = DecisionLog(
                configuration: viewer.scheduler.configuration, startsAt: viewer.profile.arrival, entries: entries)
        }
        schedule(.remove(viewer: index), at: now.advanced(by: .seconds(2)))
    }

    private func remove(_ index: Int) {
        guard let viewer = viewers[index] else { return }
        viewers[index] = nil
        for flow in network.flows(from: viewer.node) { hangUp(flow, by: index) }
        network.removeNode(viewer.node)
        disconnectTracker(viewer)
    }

    /// Bytes of a segment were handed to a player for the first time.
    func noteDelivered(_ range: Range<Int>, of segment: Int) {
        segmentBytes[segment].delivered += range.count
        // Not the whole segment at its first byte: where all leave in the middle of it, the rest was never needed.
        distinctBytes += max(0, range.upperBound - segmentBytes[segment].reached)
        segmentBytes[segment].reached = max(segmentBytes[segment].reached, range.upperBound)
    }
}

/// Why a run has no result.
package enum SimulationError: Error, Equatable, CustomStringConvertible {
    /// A run exceeded what is possible: an error of the simulator or of the bound.
    case aboveHardLimit(name: String, limit: Double, offload: Double, seed: UInt64)

    package var description: String {
        switch self {
        case .aboveHardLimit(let name, let limit, let offload, let seed):
            "seed \(seed): the run's offload of \(offload) is above its hard limit \"\(name)\" of \(limit): one of the two is wrong"
        }
    }
}
