internal import CoreModel
internal import Scheduling

/// What is begun and ended.
extension WindowedLoading {
    /// What a load has outstanding with a peer at most: below the links' limit of 256 chunks.
    private static let outstandingChunks = 192
    /// Chunks in one request, as the wire has it.
    private static let requestChunks = 64
    /// An original peer doesn't know deadlines: the longest that the wire can say.
    private static let timeLeft: Duration = .seconds(60)
    /// How long the rates of peers are remembered.
    private static let peerMemory: Duration = .seconds(15)

    /// Asks the CDN for what is missing of a segment; false when it may not be asked now.
    mutating func fetch(_ index: Int, _ reason: Reason, now: MonotonicInstant) -> Bool {
        guard loads.count(where: \.isFromCDN) < rules.maximumTransfers, segments[index].retryAt <= now else {
            return false
        }
        let id = makeTransferID()
        if !loads.contains(where: \.isFromCDN) { cdnRate.begin(now: now) }
        loads.append(Load(index: index, source: .cdn(id), startedAt: now))
        let chunks = segments[index].chunks
        let first = segments[index].present.nextMissingRun(in: chunks)?.lowerBound ?? 0
        let isWhole = first == 0 || !rules.usesRanges
        outputs.append(
            .fetch(
                id, SegmentID(track: 0, index: index), chunks: isWhole ? nil : first..<chunks.upperBound, reason))
        return true
    }

    /// Asks a peer for what is missing of a segment; false when none can be asked now.
    mutating func request(_ index: Int, isUrgent: Bool = false, now: MonotonicInstant) -> Bool {
        guard segments[index].loadedHolders > 0, let place = choosePeer(for: index, now: now) else { return false }
        peers[place].rate.begin(now: now)
        loads.append(Load(index: index, source: .peer(peers[place].key), startedAt: now, wasUrgent: isUrgent))
        ask(loads.count - 1)
        return true
    }

    /// Asks the peer of a load for more, while it has room.
    mutating func ask(_ load: Int) {
        guard case .peer(let key) = loads[load].source else { return }
        let index = loads[load].index
        var outstanding = loads[load].requests.reduce(0) { $0 + $1.open.count }
        var taken = segments[index].present
        taken.formUnion(loads[load].asked)
        while outstanding + Self.requestChunks <= Self.outstandingChunks,
            let run = taken.nextMissingRun(in: segments[index].chunks)
        {
            let chunks = run.lowerBound..<min(run.upperBound, run.lowerBound + Self.requestChunks)
            let id = makeRequestID()
            loads[load].requests.append(Request(id: id, open: ChunkSet(chunks)))
            loads[load].asked.insert(chunks)
            taken.insert(chunks)
            outstanding += chunks.count
            outputs.append(
                .request(
                    id, key, SegmentID(track: 0, index: index), chunks: chunks, timeLeft: Self.timeLeft, .peerHolds))
        }
    }

    /// One of the peers that have all of a segment and serve nothing else to this viewer: at random, the faster the likelier.
    /// None counts for less than a tenth of the fastest; those without a history together not for more than the others.
    private mutating func choosePeer(for index: Int, now: MonotonicInstant) -> Int? {
        var weights: [(place: Int, rate: Double?)] = []
        for place in peers.indices where peers[place].holdings[index] == .loaded && peers[place].restsUntil <= now {
            let key = peers[place].key
            let isBusy = loads.contains { if case .peer(key) = $0.source { true } else { false } }
            guard !isBusy else { continue }
            weights.append((place, peers[place].rate.bytesPerSecond(over: Self.peerMemory, now: now)))
        }
        guard !weights.isEmpty else { return nil }
        var floor = 0.1 * (weights.compactMap(\.rate).max() ?? 10)
        let proven = weights.reduce(0) { $0 + ($1.rate.map { max($0, floor) } ?? 0) }
        let unproven = weights.count { $0.rate == nil }
        if proven > 0, Double(unproven) * floor > proven { floor = proven / Double(unproven) }
        let total = weights.reduce(0) { $0 + max($1.rate ?? 0, floor) }
        var draw = Double.random(in: 0..<1, using: &generator) * total
        for (place, rate) in weights {
            draw -= max(rate ?? 0, floor)
            if draw < 0 { return place }
        }
        return weights[weights.count - 1].place
    }

    /// Ends a load before its time.
    mutating func cancel(_ place: Int, _ reason: Reason) {
        let load = loads.remove(at: place)
        switch load.source {
        case .cdn(let id): outputs.append(.cancelFetch(id, reason))
        case .peer(let key):
            for request in load.requests { outputs.append(.cancelRequest(request.id, key, reason)) }
        }
    }
}
