public import CoreModel
public import Scheduling
public import SwarmProtocol

/// The books between a viewer's scheduler, which knows segments and peers by numbers, and its neighbourhood, which knows
/// roots and names: which segments have which root, what each peer says that it holds, and which request is whose.
///
/// What comes from peers goes in; what the scheduler has to be told comes out, in an order that is the same in every
/// process. Bounded by the neighbourhood's links, the ``HoldingTable`` of each, and the segments that have a record.
public struct PeerBooks: Sendable {
    /// A peer whose link is ready.
    private struct Peer: Sendable {
        let key: PeerKey
        let id: PeerID
        var holdings = HoldingTable()
    }

    /// A segment's bytes, whatever segments they are.
    private struct Content: Sendable {
        var segments: [SegmentID]
        let chunkCount: Int
    }

    /// In the order of their coming.
    private var peers: [Peer] = []
    private var contents: [Digest: Content] = [:]
    /// Requests that peers may still answer, by the scheduler's number, which is also the wire's.
    private var openRequests: [RequestID: PeerID] = [:]
    private var nextKey = 0

    /// Starts without peers and segments.
    public init() {}

    // MARK: Segments

    /// The segments of a root, in the order of their records' coming.
    public func segments(of root: Digest) -> [SegmentID] { contents[root]?.segments ?? [] }

    /// Takes note that a segment has a record.
    ///
    /// - Returns: What peers have said of it already.
    public mutating func adopt(_ segment: SegmentID, root: Digest, chunkCount: Int) -> [SchedulerInput] {
        contents[root, default: Content(segments: [], chunkCount: chunkCount)].segments.append(segment)
        return peers.compactMap { peer in
            peer.holdings[root].map { .peerHolds(peer.key, segment, $0) }
        }
    }

    // MARK: Peers

    /// The peers that are there.
    public var peerCount: Int { peers.count }

    /// The names of the peers that are there, in the order of their coming.
    public var peerIDs: [PeerID] { peers.map(\.id) }

    /// The name of a peer of the scheduler's.
    public func peerID(of key: PeerKey) -> PeerID? { peers.first { $0.key == key }?.id }

    /// Takes note that a link is ready.
    public mutating func join(_ peer: PeerID, uploads: Bool) -> SchedulerInput {
        let key = PeerKey(rawValue: nextKey)
        nextKey += 1
        peers.append(Peer(key: key, id: peer))
        return .peerJoined(key, member: peer.memberID, uploads: uploads)
    }

    /// Takes note that a link has ended; `nil` when it wasn't there.
    public mutating func leave(_ peer: PeerID) -> SchedulerInput? {
        guard let index = peers.firstIndex(where: { $0.id == peer }) else { return nil }
        openRequests = openRequests.filter { $0.value != peer }
        return .peerLeft(peers.remove(at: index).key)
    }

    // MARK: Requests

    /// Takes note that a request was sent.
    public mutating func open(_ request: RequestID, at peer: PeerID) { openRequests[request] = peer }

    /// Takes a request out of the books: it was taken back.
    ///
    /// - Returns: Who was asked; `nil` when nothing of it can come any more.
    public mutating func close(_ request: RequestID) -> PeerID? { openRequests.removeValue(forKey: request) }

    /// Whether the scheduler waits for chunks of a request.
    public func isOpen(_ request: RequestID) -> Bool { openRequests[request] != nil }

    // MARK: What comes from peers

    /// What the scheduler has to be told of a link's event. Leaves, chunks and records are not looked at: they have to be
    /// verified first.
    public mutating func take(_ event: LinkEvent, from peer: PeerID, now: MonotonicInstant) -> [SchedulerInput] {
        guard let index = peers.firstIndex(where: { $0.id == peer }) else { return [] }
        let key = peers[index].key
        switch event {
        case .have(let entries): return entries.flatMap { take($0, index) }
        case .rejected(let id, _, let chunks, let reason, let retryAfter):
            return [
                .rejected(
                    RequestID(rawValue: id.rawValue), chunks: chunks, refusal: Self.refusal(reason),
                    retryAfter: retryAfter)
            ]
        case .requestTimedOut(let id, _, let ranges):
            let request = RequestID(rawValue: id.rawValue)
            // The scheduler has no such request any more: what still comes of it has to be told as what is there.
            openRequests[request] = nil
            return ranges.map {
                .rejected(request, chunks: $0, refusal: .late, retryAfter: .milliseconds(500))
            }
        case .choked(let retryAfter): return [.peerChoked(key, until: now.advanced(by: retryAfter))]
        case .unchoked: return [.peerChoked(key, until: nil)]
        case .candidate, .established, .claim, .recordRequested, .record, .leaves, .chunk, .peers, .roundTrip,
            .closed:
            return []
        }
    }

    private mutating func take(_ entry: HaveEntry, _ index: Int) -> [SchedulerInput] {
        let content = contents[entry.root]
        let holding = Self.holding(
            peers[index].holdings[entry.root] ?? Holding(), after: entry.change, chunkCount: content?.chunkCount)
        peers[index].holdings[entry.root] = holding
        let key = peers[index].key
        return content?.segments.map { .peerHolds(key, $0, holding) } ?? []
    }

    /// What a peer holds of a root after it has told of a change.
    private static func holding(_ old: Holding, after change: HaveEntry.Change, chunkCount: Int?) -> Holding {
        var holding = Holding()
        switch change {
        case .lost: break
        case .complete: holding.verified = ChunkSet(0..<(chunkCount ?? WireLimits.chunkCount))
        case .replace(let verified, let expected):
            for range in verified { holding.verified.insert(range) }
            for range in expected { holding.expected.insert(range) }
        case .add(let verified, let expected):
            holding = old
            for range in verified { holding.verified.insert(range) }
            for range in expected { holding.expected.insert(range) }
            holding.expected.subtract(holding.verified)
        }
        return holding
    }

    private static func refusal(_ reason: RejectReason) -> Refusal {
        switch reason {
        case .absent: .absent
        case .late, .cancelled: .late
        case .busy, .choked, .capped: .busy
        }
    }
}

extension PeerID {
    /// The name in fronts and claims as the scheduler knows it.
    public var memberID: MemberID { MemberID(rawValue: publicKey.words.0) }
}
