public import CoreModel

/// Decides for each piece of each segment whether it comes from the CDN or from peers, and when.
///
/// In this order: no stall that playback from the CDN alone would not have had; the fewest bytes from the CDN; fair
/// uploads; little memory. The driver calls ``handle(_:now:)`` for what happens and then ``poll(now:)`` until it gives
/// ``SchedulerOutput/wait(until:)``. `now` never goes backwards. Equal inputs give equal outputs in every process.
///
/// It keeps, for each track, the segments of the timeline; for each peer, what it holds, its measured rate and what is
/// outstanding with it; and the transfers under way. A pass costs O(segments in the window × peers).
public struct Scheduler: Sendable {
    /// The constants.
    public let configuration: SchedulerConfiguration

    var tracks: [TrackState] = []
    /// In the order of their keys.
    var peers: [PeerState] = []
    /// In the order of their numbers, which is that in which they were made.
    var requests: [PeerRequest] = []
    /// In the order of their numbers.
    var transfers: [CDNTransfer] = []
    /// In the order of tracks, then of segments.
    var claims: [Claim] = []
    var swarm = SwarmState.off
    /// When the viewer joined the swarm.
    var joinedAt: MonotonicInstant?
    /// When the last link came up.
    var lastLinkAt = MonotonicInstant.origin
    var front: Front?
    var frontAsOf = MonotonicInstant.origin
    var position = Duration.zero
    var positionAsOf = MonotonicInstant.origin
    var isPlaying = false
    /// Playback has begun since the start or the last seek.
    var hasPlayed = false
    /// The segments of each track with which playback begins after a start or seek.
    var startupSegments: [Int: Range<Int>] = [:]
    var cdnThroughput = ThroughputEstimator(halfLife: .seconds(4))
    var cdnLatency: Duration?
    /// When the CDN last sent something while a transfer was under way.
    var cdnActiveAt = MonotonicInstant.origin
    /// Claimers whose claims turned out void, with the instant until which they are ignored.
    var ignoredClaimers: [MemberID: MonotonicInstant] = [:]
    /// Members of the front that did not show their stripes, with how often.
    var failedOwners: [MemberID: Int] = [:] {
        didSet { hasFailedTwice = failedOwners.values.contains { $0 > 1 } }
    }
    /// Whether one of them failed again: only then somebody is passed over.
    private(set) var hasFailedTwice = false
    /// Whether the CDN is asked for ranges.
    var asksForRanges: Bool
    /// Ranges that the CDN has ignored.
    var ignoredRanges = 0
    /// No segment has more chunks.
    var largestChunkCount = 1
    /// What peers can still send, while a pass counts on it; in the order of peers.
    var offers: [PeerOffer] = []
    var areOffersFresh = false
    /// What lies behind it peers hold who are no further than this viewer may fetch.
    var offersFrom = Duration.zero
    /// The peers among them that may be asked, as a mask.
    var openPeers: UInt64 = 0
    /// As of the last pass.
    var lastStanding = Standing.alone
    /// How far before its playback a segment can be urgent, while a pass counts on it.
    var urgentHorizon: Duration?
    /// Within a pass: the time until what the CDN is sending is played, where that can't wait.
    var timeToSpare: Duration?

    private var nextRequest: UInt32 = 1
    private var nextTransfer: UInt32 = 1
    private var outputs: [SchedulerOutput] = []
    private var outputIndex = 0
    private var isDirty = true
    /// The last pass; ``never`` also where the next one is not to wait: what starts playback takes no detour.
    private var passedAt = Self.never
    private var wakeAt: MonotonicInstant?

    private static let never = MonotonicInstant(nanoseconds: .min)

    /// The most claimers and owners that are remembered as unreliable.
    static let memoryLimit = 256

    /// Makes a scheduler with an empty timeline.
    public init(configuration: SchedulerConfiguration) {
        self.configuration = configuration
        self.asksForRanges = configuration.usesRanges
    }

    /// Takes an input in. Decisions come out of ``poll(now:)``.
    public mutating func handle(_ input: SchedulerInput, now: MonotonicInstant) {
        let wasDirty = isDirty
        isDirty = true
        defer { isDirty = isDirty || wasDirty }
        switch input {
        case .segments(let track, let descriptions):
            while tracks.count <= track { tracks.append(TrackState()) }
            let before = tracks[track].count
            tracks[track].append(descriptions)
            for index in before..<tracks[track].count { noteChunkCount(SegmentID(track: track, index: index)) }
            passedAt = Self.never
        case .rendition(let id, let description):
            change(id, to: description)
            passedAt = Self.never
        case .record(let id, let key, let byteCount, let draw):
            guard has(id) else { break }
            tracks[id.track].segments[id.index].setRecord(key: key, draw: draw)
            setByteCount(id, byteCount)
            settle(id)
        case .noRecord(let id):
            guard has(id) else { break }
            tracks[id.track].segments[id.index].record = .none
            tracks[id.track].rouse(id.index)
        case .size(let id, let byteCount):
            learnSize(id, byteCount)
        case .playback(let position, let isPlaying):
            self.position = position
            positionAsOf = now
            self.isPlaying = isPlaying
            if isPlaying { hasPlayed = true }
        case .seek(let position):
            self.position = position
            positionAsOf = now
            isPlaying = false
            hasPlayed = false
            startupSegments = [:]
            passedAt = Self.never
        case .swarm(let state):
            swarm = state
            if case .joined = state, joinedAt == nil { joinedAt = now }
        case .front(let front):
            self.front = front.flatMap { $0.members.isEmpty ? nil : $0 }
            frontAsOf = now
            // Who seemed to fail may have been too far away to be seen.
            failedOwners = [:]
            rouseAll()
        case .peerJoined(let key, let member, let uploads):
            forget(key)
            rouseAll()
            let place = peers.firstIndex { $0.key > key } ?? peers.count
            peers.insert(PeerState(key: key, member: member, uploads: uploads), at: place)
            lastLinkAt = now
        case .peerLeft(let key):
            remove(key)
        case .peerHolds(let key, let id, let holding):
            isDirty = note(holding, of: id, by: key)
        case .peerChoked(let key, let until):
            if let index = peerIndex(key) { peers[index].restsUntil = until ?? now }
        case .claim(let id, let claimer, let draw, let waited, let owners):
            note(claimOf: id, claimer: claimer, draw: draw, waited: waited, owners: owners, now: now)
        case .chunkArrived(let request, let chunk, let byteCount):
            isDirty = arrive(request, chunk: chunk, byteCount: byteCount, now: now)
        case .cdnReceived(let id, let byteCount):
            receive(id, byteCount: byteCount, now: now)
            isDirty = false
        case .cdnArrived(let id, let chunks):
            isDirty = arrive(id, chunks: chunks, now: now)
        case .cdnResponded(let id, let latency):
            respond(id, after: latency, now: now)
            isDirty = false
        case .cdnIgnoredRange(let id, let first):
            ignoreRange(id, from: first)
        case .cdnFinished(let id):
            finish(id)
        case .cdnFailed(let id, let isFinal):
            fail(id, isFinal: isFinal, now: now)
        case .completed(let id):
            complete(id)
        case .rejected(let id, let chunks, let refusal, let retryAfter):
            reject(id, chunks: chunks, refusal: refusal, retryAfter: retryAfter, now: now)
        case .present(let id, let present):
            guard has(id) else { break }
            tracks[id.track].segments[id.index].present = present
            recount(id)
            settle(id)
        case .replaced(let id, let present, let byteCount):
            guard has(id) else { break }
            tracks[id.track].segments[id.index].record = .none
            setByteCount(id, byteCount)
            tracks[id.track].segments[id.index].present = present
            tracks[id.track].setComplete(id.index, false)
            voidRequests(of: id)
            recount(id)
            settle(id)
        case .evicted(let id):
            guard has(id) else { break }
            tracks[id.track].segments[id.index].present = ChunkSet()
            tracks[id.track].rouse(id.index)
            tracks[id.track].setComplete(id.index, false)
        case .timer:
            break
        }
    }

    /// Gives the next thing to do; ``SchedulerOutput/wait(until:)`` when there is nothing more before an input or an
    /// instant.
    public mutating func poll(now: MonotonicInstant) -> SchedulerOutput {
        if outputIndex == outputs.count {
            if outputIndex > 0 {
                // A burst's room is given back.
                outputs.removeAll(keepingCapacity: outputs.capacity <= 8)
                outputIndex = 0
            }
            // Many inputs close together share one pass.
            if isDirty, passedAt.duration(to: now) < configuration.passInterval {
                let next = passedAt.advanced(by: configuration.passInterval)
                wakeAt = wakeAt.map { min($0, next) } ?? next
            } else if isDirty || wakeAt.map({ $0 <= now }) ?? false {
                isDirty = false
                passedAt = now
                wakeAt = runPass(now: now)
            }
        }
        guard outputIndex < outputs.count else { return .wait(until: wakeAt) }
        defer { outputIndex += 1 }
        return outputs[outputIndex]
    }

    /// The estimate of the CDN's rate, in bytes per second.
    public var cdnRate: Double { cdnThroughput.bytesPerSecond ?? configuration.unprovenCDNRate }

    // MARK: - Shared by the aspects

    mutating func emit(_ output: SchedulerOutput) { outputs.append(output) }

    mutating func makeRequestID() -> RequestID {
        defer { nextRequest &+= 1 }
        return RequestID(rawValue: nextRequest)
    }

    mutating func makeTransferID() -> TransferID {
        defer { nextTransfer &+= 1 }
        return TransferID(rawValue: nextTransfer)
    }

    // `@inline(__always)` and `mutating`: a state as large as this is copied for a method that only looks.

    @inline(__always) func has(_ id: SegmentID) -> Bool {
        tracks.indices.contains(id.track) && tracks[id.track].segments.indices.contains(id.index)
    }

    @inline(__always) func isComplete(_ id: SegmentID) -> Bool { tracks[id.track].isComplete(id.index) }

    /// Chunks of a segment that need nobody to be asked for them.
    mutating func taken(_ id: SegmentID) -> ChunkSet { tracks[id.track].segments[id.index].taken() }

    /// Notes the exact size of a segment, or that it isn't known any more.
    mutating func setByteCount(_ id: SegmentID, _ byteCount: Int?) {
        tracks[id.track].setByteCount(id.index, byteCount)
        tracks[id.track].rouse(id.index)
        noteChunkCount(id)
    }

    mutating func noteChunkCount(_ id: SegmentID) {
        largestChunkCount = max(largestChunkCount, tracks[id.track].chunkCount(id.index))
    }

    /// - Complexity: O(log *n*).
    @inline(__always) func peerIndex(_ key: PeerKey) -> Int? {
        var (low, high) = (0, peers.count)
        while low < high {
            let middle = (low + high) / 2
            if peers[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low < peers.count && peers[low].key == key ? low : nil
    }

    /// - Complexity: O(log *n*).
    func requestIndex(_ id: RequestID) -> Int? {
        var (low, high) = (0, requests.count)
        while low < high {
            let middle = (low + high) / 2
            if requests[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < requests.count && requests[low].id == id ? low : nil
    }

    func transferIndex(_ id: TransferID) -> Int? { transfers.firstIndex { $0.id == id } }

    func claim(of id: SegmentID) -> Claim? {
        tracks[id.track].segments[id.index].hasClaim ? claims.first { $0.segment == id } : nil
    }

    mutating func add(_ claim: Claim) {
        let id = claim.segment
        let place = claims.firstIndex { ($0.segment.track, $0.segment.index) > (id.track, id.index) }
        claims.insert(claim, at: place ?? claims.count)
        tracks[id.track].segments[id.index].hasClaim = true
    }

    mutating func removeClaim(of id: SegmentID) {
        guard tracks[id.track].segments[id.index].hasClaim else { return }
        tracks[id.track].segments[id.index].hasClaim = false
        claims.removeAll { $0.segment == id }
    }

    /// Where the playhead is now: at most where the media ends, however long ago the player said that it runs.
    ///
    /// - Complexity: O(tracks · segments passed since the player's last word).
    mutating func playhead(_ now: MonotonicInstant) -> Duration {
        guard isPlaying else { return position }
        var head = position + positionAsOf.duration(to: now)
        for track in tracks.indices {
            var index = tracks[track].firstIndex(at: position)
            while index < tracks[track].count, tracks[track].descriptions[index].start < head {
                guard tracks[track].isComplete(index) else {
                    head = max(position, min(head, tracks[track].reached(index)))
                    break
                }
                index += 1
            }
        }
        return head
    }
}

extension SegmentState {
    /// Chunks that need nobody to be asked for them; `mutating` only so that the segment isn't copied for it.
    mutating func taken() -> ChunkSet {
        var taken = present
        taken.formUnion(requested)
        taken.formUnion(fetching)
        return taken
    }
}
