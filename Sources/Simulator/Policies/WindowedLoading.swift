internal import CoreModel
internal import Scheduling

/// p2p-media-loader's way, from its published behaviour: what is urgent comes from the CDN; what is not comes whole from
/// one peer that has all of it; and a seeding rule brings in what nobody has.
///
/// Where the original leaves a choice or does badly for reasons that are no part of its idea, this one is kinder to it:
/// - Failed requests to the CDN are tried again after 250 ms times 2ⁿ, without an end. (The original asks three times at
///   once and then not for a minute.)
/// - Peers are found through this project's tracker and links, with its certificates; bytes are checked, so that
///   polluters cost a rival as little as us. (The original checks nothing.)
/// - Announcements are sent when something changes, at most two a second, and say changes only. (The original sends its
///   full list each time, at once.)
/// - The brake on a store that is nearly full is left out: 4 GiB hold the whole CDN window at 11 Mbps.
struct WindowedLoading: FetchPolicy {
    struct Segment {
        /// Equal for every viewer, once the record is there.
        var key: UInt64?
        var byteCount: Int
        var present = ChunkSet()
        /// Peers that have all of it, and peers that are getting it from the CDN.
        var loadedHolders = 0
        var loadingHolders = 0
        var failures = 0
        var peerFailures = 0
        var failedAt = MonotonicInstant.origin
        var retryAt = MonotonicInstant.origin
        /// The viewer's place in the election among the peers of a version of the list.
        var rank = 0
        var rankVersion = -1

        var chunks: Range<Int> {
            0..<(byteCount + SegmentGeometry.chunkByteCount - 1) / SegmentGeometry.chunkByteCount
        }
        var isOffered: Bool { loadedHolders + loadingHolders > 0 }
    }

    struct Request {
        var id: RequestID
        var open: ChunkSet
    }

    /// A segment that is being loaded.
    struct Load {
        enum Source {
            case cdn(TransferID)
            case peer(PeerKey)
        }

        var index: Int
        var source: Source
        var startedAt: MonotonicInstant
        /// `nil` before the first byte.
        var lastByteAt: MonotonicInstant?
        /// Whether a peer was asked although it was urgent.
        var wasUrgent = false
        /// Of a peer: what has been asked for, and what of it is outstanding.
        var asked = ChunkSet()
        var requests: [Request] = []

        var isFromCDN: Bool { if case .cdn = source { true } else { false } }
    }

    struct Peer {
        enum Holding { case loaded, loading }

        let key: PeerKey
        let member: MemberID
        let uploads: Bool
        var restsUntil = MonotonicInstant.origin
        var stalls = 0
        /// What it said, by segment; looked up only.
        var holdings: [Int: Holding] = [:]
        var rate = LoadingRate()
    }

    let rules: WindowRules
    let member: MemberID
    var generator: SeededGenerator
    var timeline = PolicyTimeline()
    var segments: [Segment] = []
    /// In the order of their beginnings.
    var loads: [Load] = []
    /// In the order of their keys.
    var peers: [Peer] = []
    /// Counts changes of `peers`.
    var peersVersion = 0
    var position = Duration.zero
    /// What the player waits for after a start or a seek is fetched without waiting for its turn.
    var isImmediate = true
    var cdnRate = LoadingRate()
    /// Smoothed with a weight of 0.3 for the newest.
    var typicalByteCount: Double?
    var nextSeeding: MonotonicInstant?
    var outputs: [SchedulerOutput] = []

    private var isDirty = false
    private var passedAt: MonotonicInstant?
    private var wakeAt: MonotonicInstant?
    private var nextTransfer: UInt32 = 1
    private var nextRequest: UInt32 = 1

    /// Inputs this close together share a pass.
    private static let coalescing: Duration = .milliseconds(20)

    init(_ rules: WindowRules, member: MemberID, seed: UInt64) {
        self.rules = rules
        self.member = member
        generator = SeededGenerator(seed: seed)
    }

    mutating func poll(now: MonotonicInstant) -> SchedulerOutput {
        if outputs.isEmpty {
            let next = passedAt.map { $0.advanced(by: Self.coalescing) } ?? now
            if isDirty, now < next {
                wakeAt = next
            } else if isDirty || wakeAt.map({ $0 <= now }) ?? false {
                isDirty = false
                passedAt = now
                wakeAt = pass(now: now)
            }
        }
        return outputs.isEmpty ? .wait(until: wakeAt) : outputs.removeFirst()
    }

    mutating func makeTransferID() -> TransferID {
        defer { nextTransfer += 1 }
        return TransferID(rawValue: nextTransfer)
    }

    mutating func makeRequestID() -> RequestID {
        defer { nextRequest += 1 }
        return RequestID(rawValue: nextRequest)
    }

    // MARK: - Inputs

    mutating func handle(_ input: SchedulerInput, now: MonotonicInstant) {
        switch input {
        case .segments(_, let descriptions):
            timeline.append(descriptions)
            segments += descriptions.map { Segment(byteCount: $0.estimatedByteCount) }
        case .rendition(let id, let description): change(id.index, to: description)
        case .record(let id, let key, let byteCount, _):
            segments[id.index].key = key
            segments[id.index].byteCount = byteCount
        case .playback(let position, _):
            let hasJumped = abs((position - self.position).inSeconds) > averageDuration / 2
            self.position = position
            guard hasJumped || passedAt.map({ $0.advanced(by: rules.passInterval) <= now }) ?? true else { return }
        case .seek(let position):
            self.position = position
            isImmediate = true
            passedAt = nil
        case .peerJoined(let key, let member, let uploads):
            peers.append(Peer(key: key, member: member, uploads: uploads))
            peersVersion += 1
            if nextSeeding == nil { armSeeding(now: now) }
        case .peerLeft(let key): remove(key)
        case .peerHolds(let key, let id, let holding): note(holding, of: id.index, by: key)
        case .peerChoked(let key, let until):
            guard let place = place(of: key) else { return }
            peers[place].restsUntil = until ?? now
        case .chunkArrived(let request, let chunk, let byteCount):
            guard arrive(request, chunk, byteCount, now: now) else { return }
        case .present(let id, let present):
            segments[id.index].present = present
            guard settle(id.index) else { return }
        case .cdnReceived(let id, let byteCount):
            cdnRate.add(byteCount, now: now)
            guard let load = load(of: id) else { return }
            loads[load].lastByteAt = now
            return
        case .cdnArrived(let id, let chunks):
            guard let load = load(of: id) else { return }
            segments[loads[load].index].present.insert(chunks)
            return
        case .cdnFinished(let id):
            guard let load = load(of: id) else { return }
            let index = loads.remove(at: load).index
            segments[index].failures = 0
            _ = settle(index)
        case .cdnFailed(let id, _):
            guard let load = load(of: id) else { return }
            noteFailure(of: loads.remove(at: load).index, now: now)
        case .rejected(let request, let chunks, _, let retryAfter):
            guard let load = loads.firstIndex(where: { $0.requests.contains { $0.id == request } }) else { return }
            refuse(load, request, chunks, retryAfter: retryAfter, now: now)
        case .evicted(let id):
            segments[id.index].present = ChunkSet()
            timeline.setLoaded(id.index, false)
        case .timer: break
        case .noRecord, .size, .swarm, .front, .claim, .cdnResponded, .cdnIgnoredRange, .completed, .replaced: return
        }
        isDirty = true
    }

    private var averageDuration: Double { timeline.count > 0 ? timeline[0].duration.inSeconds : 4 }

    func place(of key: PeerKey) -> Int? { peers.firstIndex { $0.key == key } }

    private func load(of id: TransferID) -> Int? {
        loads.firstIndex { if case .cdn(id) = $0.source { true } else { false } }
    }

    private mutating func remove(_ key: PeerKey) {
        guard let place = place(of: key) else { return }
        let peer = peers.remove(at: place)
        peersVersion += 1
        // Sums, which don't depend on the order.
        for (index, holding) in peer.holdings { count(holding, of: index, -1) }
        loads.removeAll { if case .peer(key) = $0.source { true } else { false } }
    }

    /// Another rendition of a segment: nothing of it is there, and nothing is known of it.
    private mutating func change(_ index: Int, to description: SegmentDescription) {
        while let load = loads.firstIndex(where: { $0.index == index }) { cancel(load, .switched) }
        timeline.change(index, to: description)
        segments[index] = Segment(byteCount: description.estimatedByteCount)
        for place in peers.indices { peers[place].holdings[index] = nil }
    }

    private mutating func note(_ holding: Holding, of index: Int, by key: PeerKey) {
        guard let place = place(of: key), peers[place].uploads else { return }
        let old = peers[place].holdings[index]
        let new: Peer.Holding? =
            if holding.verified.contains(segments[index].chunks) {
                .loaded
            } else if !holding.verified.isEmpty || !holding.expected.isEmpty { .loading } else { nil }
        guard old != new else { return }
        if let old { count(old, of: index, -1) }
        if let new { count(new, of: index, 1) }
        peers[place].holdings[index] = new
    }

    private mutating func count(_ holding: Peer.Holding, of index: Int, _ change: Int) {
        switch holding {
        case .loaded: segments[index].loadedHolders += change
        case .loading: segments[index].loadingHolders += change
        }
    }

    /// Takes a peer's chunk; whether a segment is complete with it.
    private mutating func arrive(_ id: RequestID, _ chunk: Int, _ byteCount: Int, now: MonotonicInstant) -> Bool {
        for load in loads.indices {
            guard let request = loads[load].requests.firstIndex(where: { $0.id == id }) else { continue }
            loads[load].requests[request].open.remove(chunk)
            if loads[load].requests[request].open.isEmpty { loads[load].requests.remove(at: request) }
            loads[load].lastByteAt = now
            if case .peer(let key) = loads[load].source, let place = place(of: key) {
                peers[place].rate.add(byteCount, now: now)
                peers[place].stalls = 0
            }
            let index = loads[load].index
            segments[index].present.insert(chunk)
            if settle(index) { return true }
            ask(load)
            return false
        }
        return false
    }

    /// Takes note that a segment is complete, if it is.
    private mutating func settle(_ index: Int) -> Bool {
        guard !timeline.isLoaded(index), segments[index].present.contains(segments[index].chunks) else { return false }
        timeline.setLoaded(index, true)
        let size = Double(segments[index].byteCount)
        typicalByteCount = typicalByteCount.map { $0 + 0.3 * (size - $0) } ?? size
        while let load = loads.firstIndex(where: { $0.index == index }) { cancel(load, .complete) }
        return true
    }

    mutating func noteFailure(of index: Int, now: MonotonicInstant) {
        if segments[index].failedAt.duration(to: now) > rules.memory { segments[index].failures = 0 }
        segments[index].failures += 1
        segments[index].failedAt = now
        segments[index].retryAt = now.advanced(by: .milliseconds(250) * (1 << min(segments[index].failures, 5)))
    }

    private mutating func refuse(
        _ load: Int, _ request: RequestID, _ chunks: Range<Int>, retryAfter: Duration, now: MonotonicInstant
    ) {
        guard case .peer(let key) = loads[load].source else { return }
        if let place = place(of: key) {
            peers[place].restsUntil = max(peers[place].restsUntil, now.advanced(by: retryAfter))
            peers[place].rate.forget()
        }
        segments[loads[load].index].peerFailures += 1
        // The request has ended for these chunks only; the others are taken back.
        if let place = loads[load].requests.firstIndex(where: { $0.id == request }) {
            loads[load].requests[place].open.subtract(ChunkSet(chunks))
            if loads[load].requests[place].open.isEmpty { loads[load].requests.remove(at: place) }
        }
        cancel(load, .handedOver)
    }
}
