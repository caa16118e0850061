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

    var tracks: [[SegmentState]] = []
    var peers: [PeerState] = []
    var requests: [RequestID: PeerRequest] = [:]
    var transfers: [TransferID: CDNTransfer] = [:]
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
    /// Segments of each track from this one on are in the first fetch after a start or seek.
    var startupIndex: [Int: Int] = [:]
    var cdnThroughput = ThroughputEstimator(halfLife: .seconds(4))
    var cdnLatency: Duration?
    /// When the CDN last sent something while a transfer was under way.
    var cdnActiveAt = MonotonicInstant.origin
    /// Claimers whose claims turned out void, with the instant until which they are ignored.
    var ignoredClaimers: [MemberID: MonotonicInstant] = [:]
    /// Members of the front that did not show their stripes, with how often.
    var failedOwners: [MemberID: Int] = [:]
    var ranges: Bool

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
        self.ranges = configuration.usesRanges
    }

    /// Takes an input in. Decisions come out of ``poll(now:)``.
    public mutating func handle(_ input: SchedulerInput, now: MonotonicInstant) {
        let wasDirty = isDirty
        isDirty = true
        defer { isDirty = isDirty || wasDirty }
        switch input {
        case .segments(let track, let descriptions):
            while tracks.count <= track { tracks.append([]) }
            tracks[track].append(contentsOf: descriptions.map(SegmentState.init))
            passedAt = Self.never
        case .record(let id, let key, let byteCount, let draw):
            update(id) { segment in
                segment.record = .valid(key: key)
                segment.draw = draw
                segment.byteCount = byteCount
            }
            settle(id)
        case .noRecord(let id):
            update(id) { $0.record = .none }
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
            startupIndex = [:]
            passedAt = Self.never
        case .swarm(let state):
            swarm = state
            if case .joined = state, joinedAt == nil { joinedAt = now }
        case .front(let front):
            self.front = front.flatMap { $0.members.isEmpty ? nil : $0 }
            frontAsOf = now
        case .peerJoined(let key, let member, let uploads):
            peers.removeAll { $0.key == key }
            peers.append(PeerState(key: key, member: member, uploads: uploads))
            lastLinkAt = now
            peers.sort { $0.key < $1.key }
        case .peerLeft(let key):
            remove(key)
        case .peerHolds(let key, let id, let holding):
            isDirty = note(holding, of: id, by: key)
        case .peerChoked(let key, let until):
            updatePeer(key) { $0.restsUntil = until ?? now }
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
            // The CDN is at work from its first answer on, however many come beside it.
            if !transfers.values.contains(where: \.hasResponded) { cdnActiveAt = now }
            transfers[id]?.hasResponded = true
            cdnLatency = cdnLatency.map { ($0 * 3 + latency) / 4 } ?? latency
            isDirty = false
        case .cdnFinished(let id):
            finish(id)
        case .cdnFailed(let id, let isFinal):
            fail(id, isFinal: isFinal, now: now)
        case .completed(let id):
            complete(id)
        case .rejected(let id, let chunks, let refusal, let retryAfter):
            reject(id, chunks: chunks, refusal: refusal, retryAfter: retryAfter, now: now)
        case .present(let id, let present):
            update(id) { $0.present = present }
            recount(id)
            settle(id)
        case .replaced(let id, let present, let byteCount):
            update(id) { segment in
                segment.record = .none
                segment.byteCount = byteCount
                segment.present = present
                segment.isComplete = false
            }
            voidRequests(of: id)
            recount(id)
            settle(id)
        case .evicted(let id):
            update(id) { segment in
                segment.present = ChunkSet()
                segment.isComplete = false
            }
        case .timer:
            break
        }
    }

    /// Gives the next thing to do; ``SchedulerOutput/wait(until:)`` when there is nothing more before an input or an
    /// instant.
    public mutating func poll(now: MonotonicInstant) -> SchedulerOutput {
        if outputIndex == outputs.count {
            outputs.removeAll(keepingCapacity: true)
            outputIndex = 0
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

    func has(_ id: SegmentID) -> Bool {
        tracks.indices.contains(id.track) && tracks[id.track].indices.contains(id.index)
    }

    mutating func update(_ id: SegmentID, _ change: (inout SegmentState) -> Void) {
        guard has(id) else { return }
        change(&tracks[id.track][id.index])
    }

    func peerIndex(_ key: PeerKey) -> Int? { peers.firstIndex { $0.key == key } }

    mutating func updatePeer(_ key: PeerKey, _ change: (inout PeerState) -> Void) {
        guard let index = peerIndex(key) else { return }
        change(&peers[index])
    }

    /// Where the playhead is now: at most where the media ends, however long ago the player said that it runs.
    ///
    /// - Complexity: O(tracks · (log segments + segments passed since the player's last word)).
    func playhead(_ now: MonotonicInstant) -> Duration {
        guard isPlaying else { return position }
        var head = position + positionAsOf.duration(to: now)
        for track in tracks.indices {
            var index = firstIndex(track: track, at: position)
            while index < tracks[track].count, tracks[track][index].description.start < head {
                let segment = tracks[track][index]
                guard segment.isComplete else {
                    head = max(position, min(head, segment.reached))
                    break
                }
                index += 1
            }
        }
        return head
    }
}
