import CoreModel
import Scheduling

/// A swarm of schedulers in virtual time over a small network: each viewer has an uplink that serves its neighbours in
/// turn, chunk by chunk, and a downlink that brings its transfers from the CDN one after the other.
final class SwarmHarness {
    struct Scenario {
        var viewers = 10
        var stagger: Duration = .zero
        var segmentCount = 30
        var segmentDuration: Duration = .seconds(2)
        var segmentByteCount = 625_000
        /// Bits per second.
        var uplink = 5_000_000.0
        var downlink = 20_000_000.0
        var latency: Duration = .milliseconds(10)
        var hasFront = true
        /// Viewers, counted from the last, that answer no request.
        var silentViewers = 0
        /// When the tracker stops naming the front.
        var frontEnds: Duration?
        /// The viewers that leave, and when.
        var leavers: Range<Int> = 0..<0
        var leaveAt: Duration = .zero
    }

    struct Result {
        var copies = 0.0
        var offload = 0.0
        var stalls = 0
        var stallSeconds = 0.0
        var startups: [Double] = []
        var finished = 0
        var bytesByReason: [Reason: Int] = [:]
        var requests = 0
        var transfers = 0
        var drops = 0
    }

    private final class Viewer {
        let index: Int
        var scheduler: Scheduler
        let joinsAt: MonotonicInstant
        var hasLeft = false
        var present: [ChunkSet]
        var expected: [ChunkSet]
        var announcePending = Set<Int>()
        var uplink: [Int: [(RequestID, Int, Int)]] = [:]
        var uplinkTurn = 0
        var uplinkBusy = false
        var standing: [(Int, RequestID, Int, Int)] = []
        var cancelled = Set<RequestID>()
        var cdnFree = MonotonicInstant.origin
        var cdnCancelled = Set<TransferID>()
        var cdnSegments: [TransferID: Int] = [:]
        var position = Duration.zero
        var isPlaying = false
        var hasStarted = false
        var isDone = false
        var lastTick: MonotonicInstant
        var wakeAt: MonotonicInstant?

        init(index: Int, scheduler: Scheduler, joinsAt: MonotonicInstant, segments: Int) {
            self.index = index
            self.scheduler = scheduler
            self.joinsAt = joinsAt
            self.lastTick = joinsAt
            present = Array(repeating: ChunkSet(), count: segments)
            expected = Array(repeating: ChunkSet(), count: segments)
        }
    }

    private let scenario: Scenario
    private let geometry: SegmentGeometry
    private var viewers: [Viewer] = []
    private var events: [(at: MonotonicInstant, order: Int, run: () -> Void)] = []
    private var order = 0
    private var now = MonotonicInstant.origin
    private var result = Result()
    private var cdnChunks = 0

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        self.geometry = SegmentGeometry(byteCount: scenario.segmentByteCount)!
    }

    func run() -> Result {
        for index in 0..<scenario.viewers {
            var configuration = SchedulerConfiguration()
            configuration.member = MemberID(rawValue: UInt64(index) + 1)
            configuration.seed = UInt64(index)
            let viewer = Viewer(
                index: index, scheduler: Scheduler(configuration: configuration),
                joinsAt: .origin.advanced(by: scenario.stagger * index), segments: scenario.segmentCount)
            viewers.append(viewer)
            schedule(viewer.joinsAt) { [self] in join(viewer) }
        }
        for index in scenario.leavers {
            schedule(.origin.advanced(by: scenario.leaveAt)) { [self] in leave(viewers[index]) }
        }
        if let end = scenario.frontEnds {
            schedule(.origin.advanced(by: end)) { [self] in
                for viewer in viewers where !viewer.hasLeft { feed(viewer, .front(nil)) }
            }
        }
        let limit = MonotonicInstant.origin.advanced(by: .seconds(400))
        while let next = pop(), next.at < limit {
            now = next.at
            next.run()
        }
        let perSegment = Double(geometry.chunkCount * scenario.segmentCount)
        result.copies = Double(cdnChunks) / perSegment
        result.offload = 1 - Double(cdnChunks) / (perSegment * Double(max(1, result.finished)))
        return result
    }

    /// A viewer's place in a segment's election.
    private func draw(_ viewer: Int, _ segment: Int) -> Double {
        var generator = SeededGenerator(seed: UInt64(viewer) &* 7919 &+ UInt64(segment) &* 104_729)
        return Double.random(in: 0..<1, using: &generator)
    }

    // MARK: - Events

    private func schedule(_ at: MonotonicInstant, _ run: @escaping () -> Void) {
        order += 1
        events.append((at, order, run))
        var child = events.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            events.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (events[left].at, events[left].order) < (events[right].at, events[right].order)
    }

    private func pop() -> (at: MonotonicInstant, order: Int, run: () -> Void)? {
        guard let first = events.first else { return nil }
        let last = events.removeLast()
        guard !events.isEmpty else { return first }
        events[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < events.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return first }
            events.swapAt(parent, least)
            parent = least
        }
    }

    private func after(_ span: Duration, _ run: @escaping () -> Void) { schedule(now.advanced(by: span), run) }

    // MARK: - Membership

    private func join(_ viewer: Viewer) {
        let descriptions = (0..<scenario.segmentCount).map {
            SegmentDescription(
                start: scenario.segmentDuration * $0, duration: scenario.segmentDuration,
                estimatedByteCount: scenario.segmentByteCount)
        }
        feed(viewer, .swarm(.joining(until: now.advanced(by: .milliseconds(1500)))))
        feed(viewer, .segments(track: 0, descriptions))
        feed(viewer, .playback(position: .zero, isPlaying: false))
        after(scenario.latency * 3) { [self] in
            for index in 0..<scenario.segmentCount {
                feed(
                    viewer,
                    .record(
                        SegmentID(track: 0, index: index), key: UInt64(index) &* 0x9E37_79B9_7F4A_7C15,
                        byteCount: scenario.segmentByteCount, draw: draw(viewer.index, index)))
            }
        }
        after(scenario.latency * 5) { [self] in connect(viewer) }
        tick(viewer)
    }

    private var joined: [Viewer] = []

    private func connect(_ viewer: Viewer) {
        guard !viewer.hasLeft else { return }
        for other in joined where !other.hasLeft {
            link(viewer, to: other)
            link(other, to: viewer)
        }
        joined.append(viewer)
        nameFront()
        for other in joined where !other.hasLeft { feed(other, .swarm(.joined(size: joined.count))) }
    }

    private func nameFront() {
        guard scenario.hasFront, scenario.frontEnds.map({ now < .origin.advanced(by: $0) }) ?? true else { return }
        let members = joined.filter { !$0.hasLeft }.map { MemberID(rawValue: UInt64($0.index) + 1) }
        let lead = joined.map(\.position).max() ?? .zero
        for other in joined where !other.hasLeft {
            feed(other, .front(Front(members: members, leadPosition: lead)))
        }
    }

    private func link(_ viewer: Viewer, to other: Viewer) {
        let key = PeerKey(rawValue: other.index)
        feed(
            viewer,
            .peerJoined(
                key, member: MemberID(rawValue: UInt64(other.index) + 1), uploads: true))
        for index in other.present.indices where !other.present[index].isEmpty || !other.expected[index].isEmpty {
            announce(other, index, to: viewer)
        }
    }

    private func leave(_ viewer: Viewer) {
        viewer.hasLeft = true
        viewer.uplink = [:]
        for other in joined where other !== viewer && !other.hasLeft {
            after(scenario.latency) { [self] in feed(other, .peerLeft(PeerKey(rawValue: viewer.index))) }
        }
        nameFront()
    }

    // MARK: - The scheduler's driver

    private func feed(_ viewer: Viewer, _ input: SchedulerInput) {
        guard !viewer.hasLeft, !viewer.isDone || viewer.index >= 0 else { return }
        viewer.scheduler.handle(input, now: now)
        drain(viewer)
    }

    private func drain(_ viewer: Viewer) {
        while true {
            switch viewer.scheduler.poll(now: now) {
            case .fetch(let id, let segment, let chunks, let reason):
                fetch(viewer, id, segment.index, chunks, reason)
            case .cancelFetch(let id, _):
                viewer.cdnCancelled.insert(id)
            case .request(let id, let peer, let segment, let chunks, _, _):
                result.requests += 1
                let other = viewers[peer.rawValue]
                after(scenario.latency) { [self] in serve(other, id, segment.index, chunks, to: viewer) }
            case .cancelRequest(let id, _, _):
                viewer.cancelled.insert(id)
            case .claim(let segment, let waited, let owners):
                for other in joined where other !== viewer && !other.hasLeft {
                    after(scenario.latency) { [self] in
                        feed(
                            other,
                            .claim(
                                segment, claimer: MemberID(rawValue: UInt64(viewer.index) + 1),
                                draw: draw(viewer.index, segment.index), waited: waited, owners: owners))
                    }
                }
            case .drop:
                result.drops += 1
            case .unreachable:
                break
            case .wait(let until):
                guard let until, viewer.wakeAt.map({ until < $0 || $0 <= now }) ?? true else { return }
                viewer.wakeAt = until
                schedule(max(until, now.advanced(by: .milliseconds(1)))) { [self] in
                    guard viewer.wakeAt == until else { return }
                    viewer.wakeAt = nil
                    feed(viewer, .timer)
                }
                return
            }
        }
    }

    // MARK: - The network

    private func fetch(
        _ viewer: Viewer, _ id: TransferID, _ segment: Int, _ chunks: Range<Int>?, _ reason: Reason
    ) {
        result.transfers += 1
        let range = (chunks ?? geometry.chunks).clamped(to: geometry.chunks)
        viewer.expected[segment].insert(range)
        announceSoon(viewer, segment, within: .milliseconds(5))
        let begins = max(now.advanced(by: scenario.latency * 2), viewer.cdnFree)
        let perChunk = Duration.nanoseconds(Int64(16384 * 8 / scenario.downlink * 1e9))
        viewer.cdnFree = begins.advanced(by: perChunk * range.count)
        for (place, chunk) in range.enumerated() {
            schedule(begins.advanced(by: perChunk * (place + 1))) { [self] in
                guard !viewer.cdnCancelled.contains(id), !viewer.hasLeft else { return }
                cdnChunks += 1
                result.bytesByReason[reason, default: 0] += 16384
                if place == 0 {
                    feed(viewer, .cdnResponded(id, after: scenario.latency * 2))
                    feed(viewer, .size(SegmentID(track: 0, index: segment), byteCount: scenario.segmentByteCount))
                }
                gain(viewer, segment, chunk)
                feed(viewer, .cdnReceived(id, byteCount: 16384))
                feed(viewer, .cdnArrived(id, chunks: chunk..<chunk + 1))
                if place == range.count - 1 {
                    feed(viewer, .cdnFinished(id))
                }
            }
        }
    }

    private func gain(_ viewer: Viewer, _ segment: Int, _ chunk: Int) {
        guard viewer.present[segment].insert(chunk) else { return }
        announceSoon(viewer, segment, within: .milliseconds(500))
        let ready = viewer.standing.filter { $0.2 == segment && $0.3 == chunk }
        viewer.standing.removeAll { $0.2 == segment && $0.3 == chunk }
        for (destination, request, segment, chunk) in ready {
            viewer.uplink[destination, default: []].append((request, segment, chunk))
        }
        pump(viewer)
    }

    private func announceSoon(_ viewer: Viewer, _ segment: Int, within span: Duration) {
        guard viewer.announcePending.insert(segment).inserted || span < .milliseconds(10) else { return }
        after(span) { [self] in
            viewer.announcePending.remove(segment)
            for other in joined where other !== viewer && !other.hasLeft { announce(viewer, segment, to: other) }
        }
    }

    private func announce(_ viewer: Viewer, _ segment: Int, to other: Viewer) {
        let holding = Holding(verified: viewer.present[segment], expected: viewer.expected[segment])
        after(scenario.latency) { [self] in
            feed(
                other,
                .peerHolds(PeerKey(rawValue: viewer.index), SegmentID(track: 0, index: segment), holding))
        }
    }

    private func serve(_ viewer: Viewer, _ id: RequestID, _ segment: Int, _ chunks: Range<Int>, to other: Viewer) {
        guard viewer.index < scenario.viewers - scenario.silentViewers, !viewer.hasLeft else { return }
        for chunk in chunks {
            if viewer.present[segment].contains(chunk) {
                viewer.uplink[other.index, default: []].append((id, segment, chunk))
            } else {
                viewer.standing.append((other.index, id, segment, chunk))
            }
        }
        pump(viewer)
    }

    private func pump(_ viewer: Viewer) {
        guard !viewer.uplinkBusy, !viewer.hasLeft else { return }
        let destinations = viewer.uplink.keys.filter { !(viewer.uplink[$0] ?? []).isEmpty }.sorted()
        guard !destinations.isEmpty else { return }
        let destination = destinations.first { $0 > viewer.uplinkTurn } ?? destinations[0]
        viewer.uplinkTurn = destination
        let (request, segment, chunk) = viewer.uplink[destination]!.removeFirst()
        let other = viewers[destination]
        guard !other.cancelled.contains(request), !other.hasLeft else { return pump(viewer) }
        viewer.uplinkBusy = true
        after(.nanoseconds(Int64(16384 * 8 / scenario.uplink * 1e9))) { [self] in
            viewer.uplinkBusy = false
            after(scenario.latency) { [self] in
                guard !other.hasLeft, !other.cancelled.contains(request) else { return }
                gain(other, segment, chunk)
                feed(other, .chunkArrived(request, chunk: chunk, byteCount: 16384))
            }
            pump(viewer)
        }
    }

    // MARK: - Playback

    private func tick(_ viewer: Viewer) {
        guard !viewer.hasLeft, !viewer.isDone else { return }
        let elapsed = viewer.lastTick.duration(to: now)
        viewer.lastTick = now
        let reached = contiguousEnd(viewer)
        if viewer.isPlaying {
            viewer.position += elapsed
            if viewer.position >= reached {
                viewer.position = reached
                if reached >= scenario.segmentDuration * scenario.segmentCount {
                    viewer.isDone = true
                    result.finished += 1
                    feed(viewer, .playback(position: reached, isPlaying: false))
                    return
                }
                viewer.isPlaying = false
                result.stalls += 1
                feed(viewer, .playback(position: viewer.position, isPlaying: false))
            }
        } else if reached - viewer.position >= .milliseconds(viewer.hasStarted ? 500 : 200) {
            if viewer.hasStarted {
                result.stallSeconds += elapsed.inSeconds
            } else {
                result.startups.append(viewer.joinsAt.duration(to: now).inSeconds)
            }
            viewer.isPlaying = true
            viewer.hasStarted = true
            feed(viewer, .playback(position: viewer.position, isPlaying: true))
        } else if viewer.hasStarted {
            result.stallSeconds += elapsed.inSeconds
        }
        after(.milliseconds(50)) { [self] in tick(viewer) }
    }

    private func contiguousEnd(_ viewer: Viewer) -> Duration {
        var index = Int(viewer.position.inSeconds / scenario.segmentDuration.inSeconds)
        while index < scenario.segmentCount {
            let run = viewer.present[index].runLength(from: 0)
            if run < geometry.chunkCount {
                let fraction = Double(run) / Double(geometry.chunkCount)
                return scenario.segmentDuration * index
                    + .nanoseconds(Int64(scenario.segmentDuration.inSeconds * fraction * 1e9))
            }
            index += 1
        }
        return scenario.segmentDuration * scenario.segmentCount
    }
}
