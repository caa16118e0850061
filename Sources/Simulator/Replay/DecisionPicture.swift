internal import CoreModel
internal import Scheduling

/// What a decision log says of the viewer's state so far: the facts that explain a decision, not the scheduler's estimates.
struct DecisionPicture {
    struct Segment {
        var start = Duration.zero
        var duration = Duration.zero
        var byteCount = 1
        var present = ChunkSet()
        var isComplete = false

        var chunkCount: Int {
            max(1, (byteCount + SegmentGeometry.chunkByteCount - 1) / SegmentGeometry.chunkByteCount)
        }

        /// The time up to which the media is there, were its bytes spread evenly.
        var reached: Duration {
            if isComplete { return start + duration }
            let fraction = min(1, Double(present.runLength(from: 0)) / Double(chunkCount))
            return start + .clamping(seconds: duration.inSeconds * fraction)
        }
    }

    struct Peer {
        var key: PeerKey
        var uploads: Bool
        var holdings: [SegmentID: Holding] = [:]
        var restsUntil = MonotonicInstant.origin
    }

    struct Transfer {
        var id: TransferID
        var segment: SegmentID
        var reason: Reason
        var startedAt: MonotonicInstant
        var arrived = 0
    }

    struct Request {
        var id: RequestID
        var peer: PeerKey
        var segment: SegmentID
        var open: ChunkSet
    }

    private var tracks: [[Segment]] = []
    /// By track, the bits a second of the rendition that was chosen last.
    private var chosen: [Int?] = []
    /// In the order of their keys.
    private(set) var peers: [Peer] = []
    private var transfers: [Transfer] = []
    private var requests: [Request] = []
    private(set) var isPlaying = false
    private var position = Duration.zero
    private var positionAsOf = MonotonicInstant.origin

    func segment(_ id: SegmentID) -> Segment {
        tracks.indices.contains(id.track) && tracks[id.track].indices.contains(id.index)
            ? tracks[id.track][id.index] : Segment()
    }

    /// What was chosen last for a track, in bits a second.
    func chosenRate(ofTrack track: Int) -> Int? { chosen.indices.contains(track) ? chosen[track] : nil }

    func transfers(of id: SegmentID) -> [Transfer] { transfers.filter { $0.segment == id } }

    func requestedCount(of id: SegmentID) -> Int {
        requests.reduce(0) { $1.segment == id ? $0 + $1.open.count : $0 }
    }

    func playhead(_ now: MonotonicInstant) -> Duration {
        isPlaying ? position + positionAsOf.duration(to: now) : position
    }

    /// The first segment that playback waits for at `position`; nil when all is there, as after a pause or at the end.
    func starved(at position: Duration) -> SegmentID? {
        // A player stops a moment before the last byte it has.
        let margin = Duration.milliseconds(250)
        for track in tracks.indices {
            for index in tracks[track].indices {
                let segment = tracks[track][index]
                guard segment.start <= position + margin, segment.start + segment.duration > position else { continue }
                if !segment.isComplete, segment.reached <= position + margin {
                    return SegmentID(track: track, index: index)
                }
            }
        }
        return nil
    }

    mutating func note(_ entry: DecisionEntry) {
        switch entry.event {
        case .configuration: break
        case .input(let input): note(input, entry.time)
        case .output(let output): note(output, entry.time)
        case .choice(let id, _, let bitsPerSecond):
            while chosen.count <= id.track { chosen.append(nil) }
            chosen[id.track] = bitsPerSecond
        }
    }

    private mutating func note(_ input: SchedulerInput, _ now: MonotonicInstant) {
        switch input {
        case .segments(let track, let descriptions):
            while tracks.count <= track { tracks.append([]) }
            tracks[track] += descriptions.map {
                Segment(start: $0.start, duration: $0.duration, byteCount: $0.estimatedByteCount)
            }
        case .rendition(let id, let description):
            update(id) {
                $0 = Segment(
                    start: description.start, duration: description.duration, byteCount: description.estimatedByteCount)
            }
            for place in peers.indices { peers[place].holdings[id] = nil }
        case .record(let id, _, let byteCount, _), .size(let id, let byteCount):
            update(id) { $0.byteCount = byteCount }
        case .playback(let position, let isPlaying):
            (self.position, self.isPlaying, positionAsOf) = (position, isPlaying, now)
        case .seek(let position): (self.position, isPlaying, positionAsOf) = (position, false, now)
        case .peerJoined(let key, _, let uploads):
            peers.removeAll { $0.key == key }
            peers.append(Peer(key: key, uploads: uploads))
            peers.sort { $0.key < $1.key }
        case .peerLeft(let key): drop(key)
        case .peerHolds(let key, let id, let holding): updatePeer(key) { $0.holdings[id] = holding }
        case .peerChoked(let key, let until): updatePeer(key) { $0.restsUntil = until ?? now }
        case .chunkArrived(let id, let chunk, _):
            guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
            requests[index].open.remove(chunk)
            arrive(requests[index].segment, chunk..<chunk + 1)
            if requests[index].open.isEmpty { requests.remove(at: index) }
        case .cdnArrived(let id, let chunks):
            guard let index = transfers.firstIndex(where: { $0.id == id }) else { return }
            transfers[index].arrived += chunks.count
            arrive(transfers[index].segment, chunks)
        case .cdnFinished(let id), .cdnFailed(let id, _): transfers.removeAll { $0.id == id }
        case .completed(let id): update(id) { $0.isComplete = true }
        case .rejected(let id, let chunks, _, _):
            guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
            requests[index].open.subtract(ChunkSet(chunks))
            if requests[index].open.isEmpty { requests.remove(at: index) }
        case .present(let id, let present):
            update(id) { segment in
                segment.present = present
                segment.isComplete = present.contains(0..<segment.chunkCount)
            }
        case .replaced(let id, let present, let byteCount):
            update(id) { segment in
                segment.present = present
                segment.isComplete = false
                if let byteCount { segment.byteCount = byteCount }
            }
        case .evicted(let id):
            update(id) { segment in
                segment.present = ChunkSet()
                segment.isComplete = false
            }
        case .noRecord, .swarm, .front, .claim, .cdnReceived, .cdnResponded, .cdnIgnoredRange, .timer: break
        }
    }

    private mutating func note(_ output: SchedulerOutput, _ now: MonotonicInstant) {
        switch output {
        case .fetch(let id, let segment, _, let reason):
            transfers.append(Transfer(id: id, segment: segment, reason: reason, startedAt: now))
        case .cancelFetch(let id, _): transfers.removeAll { $0.id == id }
        case .request(let id, let peer, let segment, let chunks, _, _):
            requests.append(Request(id: id, peer: peer, segment: segment, open: ChunkSet(chunks)))
        case .cancelRequest(let id, _, _): requests.removeAll { $0.id == id }
        case .drop(let key, _): drop(key)
        case .claim, .unreachable, .wait: break
        }
    }

    private mutating func drop(_ key: PeerKey) {
        peers.removeAll { $0.key == key }
        requests.removeAll { $0.peer == key }
    }

    private mutating func arrive(_ id: SegmentID, _ chunks: Range<Int>) {
        update(id) { segment in
            segment.present.insert(chunks)
            if segment.present.contains(0..<segment.chunkCount) { segment.isComplete = true }
        }
    }

    private mutating func update(_ id: SegmentID, _ change: (inout Segment) -> Void) {
        guard tracks.indices.contains(id.track), tracks[id.track].indices.contains(id.index) else { return }
        change(&tracks[id.track][id.index])
    }

    private mutating func updatePeer(_ key: PeerKey, _ change: (inout Peer) -> Void) {
        guard let index = peers.firstIndex(where: { $0.key == key }) else { return }
        change(&peers[index])
    }
}
