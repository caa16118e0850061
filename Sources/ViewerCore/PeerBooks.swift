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
        let uploads: Bool
        var holdings = HoldingTable()
    }

    /// A request that a peer may still answer.
    private struct OpenRequest: Sendable {
        let id: RequestID
        let peer: PeerKey
        /// Chunks that neither came nor were refused.
        var chunkCount: Int
    }

    /// In the order of their coming.
    private var peers: [Peer] = []
    private var contents = ContentTable()
    /// By the scheduler's number, which is also the wire's: in the order in which they were made.
    private var openRequests: [OpenRequest] = []
    private var nextKey = 0

    /// Starts without peers and segments.
    public init() {}

    // MARK: Segments

    /// The segments of a root, in the order of their records' coming.
    public func segments(of root: Digest) -> [SegmentID] {
        contents.number(of: root).map { contents[$0].segments } ?? []
    }

    /// Takes note that a segment has a record.
    ///
    /// - Returns: What peers have said of it already.
    public mutating func adopt(_ segment: SegmentID, root: Digest, chunkCount: Int) -> [SchedulerInput] {
        contents.add(segment, chunkCount: chunkCount, to: contents.insert(root))
        return holdings(of: segment, root: root)
    }

    /// Takes note that a segment has these bytes no more: another rendition of it is wanted.
    public mutating func disown(_ segment: SegmentID, root: Digest) {
        if let number = contents.number(of: root) { contents.remove(segment, from: number) }
    }

    /// The share of some bytes that peers who upload have verified or expect, 0 to 1.
    ///
    /// - Parameter chunkCount: The chunks of these bytes.
    public func heldShare(of root: Digest, chunkCount: Int) -> Double {
        guard let number = contents.number(of: root), contents[number].holderCount > 0, chunkCount > 0 else { return 0 }
        var held = ChunkSet()
        for index in peers.indices {
            guard peers[index].uploads,
                let holding = peers[index].holdings.holding(of: number, chunkCount: chunkCount)
            else { continue }
            held.formUnion(holding.verified)
            held.formUnion(holding.expected)
        }
        return 1 - Double(held.missingCount(in: 0..<chunkCount)) / Double(chunkCount)
    }

    /// What peers have said of a segment: for a scheduler that has forgotten it, with the segment's eviction.
    public func holdings(of segment: SegmentID, root: Digest) -> [SchedulerInput] {
        guard let number = contents.number(of: root) else { return [] }
        var inputs: [SchedulerInput] = []
        for index in peers.indices {
            guard let holding = peers[index].holdings.holding(of: number, chunkCount: contents[number].chunkCount)
            else { continue }
            inputs.append(.peerHolds(peers[index].key, segment, holding))
        }
        return inputs
    }

    /// The roots that are kept.
    var rootCount: Int { contents.count }

    // MARK: Peers

    /// The peers that are there.
    public var peerCount: Int { peers.count }

    /// The names of the peers that are there, in the order of their coming.
    public var peerIDs: [PeerID] { peers.map(\.id) }

    /// The name of a peer of the scheduler's.
    public func peerID(of key: PeerKey) -> PeerID? {
        for index in peers.indices where peers[index].key == key { return peers[index].id }
        return nil
    }

    private func index(of peer: PeerID) -> Int? {
        for index in peers.indices where peers[index].id == peer { return index }
        return nil
    }

    /// Takes note that a link is ready.
    public mutating func join(_ peer: PeerID, uploads: Bool) -> SchedulerInput {
        let key = PeerKey(rawValue: nextKey)
        nextKey += 1
        peers.append(Peer(key: key, id: peer, uploads: uploads))
        return .peerJoined(key, member: peer.memberID, uploads: uploads)
    }

    /// Takes note that a link has ended; `nil` when it wasn't there.
    public mutating func leave(_ peer: PeerID) -> SchedulerInput? {
        guard let index = index(of: peer) else { return nil }
        let key = peers[index].key
        openRequests.removeAll { $0.peer == key }
        for number in peers[index].holdings.numbers { contents.removeHolder(number) }
        peers.remove(at: index)
        return .peerLeft(key)
    }

    // MARK: Requests

    /// Takes note that a request for so many chunks was sent.
    public mutating func open(_ request: RequestID, at peer: PeerID, chunkCount: Int) {
        guard let index = index(of: peer) else { return }
        openRequests.append(OpenRequest(id: request, peer: peers[index].key, chunkCount: chunkCount))
    }

    /// Takes a request out of the books: it was taken back.
    ///
    /// - Returns: Who was asked; `nil` when nothing of it can come any more.
    public mutating func close(_ request: RequestID) -> PeerID? {
        guard let place = place(of: request) else { return nil }
        return peerID(of: openRequests.remove(at: place).peer)
    }

    /// Whether the scheduler waits for chunks of a request.
    public func isOpen(_ request: RequestID) -> Bool { place(of: request) != nil }

    /// Takes note that a chunk of a request has come.
    public mutating func tookChunk(of request: RequestID) { end(1, of: request) }

    private mutating func end(_ chunkCount: Int, of request: RequestID) {
        guard let place = place(of: request) else { return }
        openRequests[place].chunkCount -= chunkCount
        if openRequests[place].chunkCount <= 0 { openRequests.remove(at: place) }
    }

    private func place(of request: RequestID) -> Int? {
        // What is answered now was mostly asked a while ago, but there are few beside it.
        for place in openRequests.indices where openRequests[place].id == request { return place }
        return nil
    }

    // MARK: What comes from peers

    /// What the scheduler has to be told of a link's event. Leaves, chunks and records are not looked at: they have to be
    /// verified first.
    public mutating func take(_ event: LinkEvent, from peer: PeerID, now: MonotonicInstant) -> [SchedulerInput] {
        guard let index = index(of: peer) else { return [] }
        let key = peers[index].key
        switch event {
        case .have(let entries):
            var inputs: [SchedulerInput] = []
            inputs.reserveCapacity(entries.count)
            for entry in entries { take(entry, index, &inputs) }
            return inputs
        case .rejected(let id, _, let chunks, let reason, let retryAfter):
            end(chunks.count, of: RequestID(rawValue: id.rawValue))
            return [
                .rejected(
                    RequestID(rawValue: id.rawValue), chunks: chunks, refusal: Self.refusal(reason),
                    retryAfter: retryAfter)
            ]
        case .requestTimedOut(let id, _, let ranges):
            let request = RequestID(rawValue: id.rawValue)
            // The scheduler has no such request any more: what still comes of it has to be told as what is there.
            _ = close(request)
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

    private mutating func take(_ entry: HaveEntry, _ index: Int, _ inputs: inout [SchedulerInput]) {
        let known = contents.number(of: entry.root)
        if known == nil, case .lost = entry.change { return }
        let number = known ?? contents.insert(entry.root)
        contents.addHolder(number)
        let news = peers[index].holdings.take(entry.change, of: number, chunkCount: contents[number].chunkCount)
        if !news.wasHeld, news.count > HoldingTable.limit { forgetOldest(of: index, but: number) }
        // What was held before counted already.
        if news.wasHeld { contents.removeHolder(number) }
        let key = peers[index].key
        for segment in contents[number].segments {
            inputs.append(.peerHolds(key, segment, news.holding ?? Holding()))
        }
        if news.holding == nil { contents.removeHolder(number) }
    }

    /// Forgets what a peer holds of the root that became known first.
    private mutating func forgetOldest(of index: Int, but number: Int) {
        let numbers = peers[index].holdings.numbers.filter { $0 != number }
        guard let oldest = numbers.min(by: { contents[$0].serial < contents[$1].serial }) else { return }
        peers[index].holdings.remove(oldest)
        contents.removeHolder(oldest)
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
