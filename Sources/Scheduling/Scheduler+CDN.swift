internal import CoreModel

/// What comes from the CDN.
extension Scheduler {
    /// The time until the first missing byte of a segment is played, were playback running.
    func timeLeft(_ id: SegmentID, head: Duration) -> Duration {
        let segment = tracks[id.track][id.index]
        let description = segment.description
        guard description.start <= head else { return description.start - head }
        // The segment under the playhead is played while it comes in.
        return segment.reachedAtLeast - head
    }

    /// What the CDN needs for `byteCount` bytes after all that is under way.
    func cdnTime(_ byteCount: Int) -> Duration {
        let backlog = transfers.values.reduce(0) { sum, transfer in
            let all = 0..<tracks[transfer.segment.track][transfer.segment.index].chunkCount
            let chunks = transfer.chunks?.clamped(to: all) ?? all
            return sum + max(0, chunks.count * SegmentGeometry.chunkByteCount - transfer.receivedByteCount)
        }
        let seconds = Double(backlog + byteCount) / cdnRate
        return (cdnLatency ?? configuration.unprovenCDNLatency) + .clamping(seconds: min(seconds, 1e6))
    }

    /// The viewer's own share of the jitter that keeps viewers with one deadline from asking at once.
    func jitter(_ id: SegmentID) -> Duration {
        var generator = SeededGenerator(seed: configuration.seed ^ UInt64(id.index) << 8 ^ UInt64(id.track))
        let draw = Double.random(in: 0..<1, using: &generator)
        return .clamping(seconds: configuration.handoverJitter.inSeconds * draw)
    }

    /// Fetches what can't wait: the first bytes after a start, and what the CDN must bring now to be in time.
    ///
    /// - Returns: Whether something was fetched.
    mutating func planUrgent(_ id: SegmentID, head: Duration, standing: Standing, now: MonotonicInstant) -> Bool {
        let segment = tracks[id.track][id.index]
        guard !segment.isGone, segment.retryAt <= now, segment.openTransfer == nil else { return false }
        let isFirst = !hasPlayed && segment.description.start <= head
        if isFirst, startupIndex[id.track] == nil {
            startupIndex[id.track] = id.index
            if startUp(id, standing: standing, now: now) { return true }
        }
        var pending = segment.present
        pending.formUnion(segment.fetching)
        let holes = pending.missing(in: 0..<segment.chunkCount)
        guard !holes.isEmpty else { return false }
        let left = timeLeft(id, head: head)
        let isStart = startupIndex[id.track] == id.index
        // While the first transfer measures the CDN, only what is being played can't wait for the result.
        if cdnThroughput.bytesPerSecond == nil, !isStart, !transfers.isEmpty, left > .milliseconds(500) { return false }
        let chunks = holes.reduce(0) { $0 + $1.count }
        let need = cdnTime(chunks * SegmentGeometry.chunkByteCount)
        let scaled = Duration.clamping(seconds: need.inSeconds * configuration.handoverFactor)
        // A segment that was wanted late leaves peers most of the little time there is.
        let room = segment.room ?? left
        tracks[id.track][id.index].room = room
        let margin =
            isStart
            ? configuration.startupMargin : min(configuration.handoverMargin + jitter(id), max(room, .zero) / 3)
        guard left <= scaled + margin else { return false }
        return handOver(id, holes: holes, left: left, reason: isStart ? .startup : .deadline, now: now)
    }

    /// The first fetch after a start: without a swarm the segment, else its first stripes.
    private mutating func startUp(_ id: SegmentID, standing: Standing, now: MonotonicInstant) -> Bool {
        let segment = tracks[id.track][id.index]
        guard segment.present.isEmpty, segment.fetching.isEmpty else { return false }
        let stripes = configuration.startupStripes * SegmentGeometry.chunksPerStripe
        let isSmall = segment.byteCount.map { $0 <= stripes * SegmentGeometry.chunkByteCount } ?? false
        if standing == .alone || segment.record == .none || !ranges || isSmall {
            fetch(id, chunks: nil, standing == .alone ? .alone : .startup, now: now)
            return true
        }
        // Peers that hold the segment and have proven themselves start as fast as the CDN.
        let isHeld = peers.contains { peer in
            peer.throughput.bytesPerSecond != nil && peer.restsUntil <= now
                && peer.holdings[id]?.verified.contains(0) ?? false
        }
        guard !isHeld else { return false }
        fetch(id, chunks: 0..<stripes, .startup, now: now)
        return true
    }

    /// Gives what peers won't bring in time to the CDN, as at most two runs of whole stripes.
    private mutating func handOver(
        _ id: SegmentID, holes: [Range<Int>], left: Duration, reason: Reason, now: MonotonicInstant
    ) -> Bool {
        guard transfers.count < configuration.maximumUrgentTransfers else { return false }
        var late = ChunkSet()
        for hole in holes { late.insert(hole) }
        let ahead = chunksOutstanding(upTo: id)
        for (_, request) in requests where request.segment == id {
            guard let peer = peerIndex(request.peer).map({ peers[$0] }) else { continue }
            let finish = peer.time(for: ahead[request.peer, default: 0], configuration)
            if finish + .milliseconds(100) < left { late.subtract(request.open) }
        }
        guard let first = late.ranges.first, let last = late.ranges.last else { return false }
        let segment = tracks[id.track][id.index]
        guard ranges, segment.byteCount != nil, let geometry = segment.geometry else {
            cancelRequests(id, within: 0..<segment.chunkCount)
            fetch(id, chunks: nil, reason, now: now)
            return true
        }
        for run in Self.twoRuns(late.ranges, first: first, last: last) {
            let chunks = geometry.stripeAligned(run)
            let wanted = segment.present.missing(in: chunks)
            guard let lower = wanted.first?.lowerBound, let upper = wanted.last?.upperBound else { continue }
            let isWhole = lower == 0 && upper == geometry.chunkCount && segment.present.isEmpty
            cancelRequests(id, within: lower..<upper)
            fetch(id, chunks: isWhole ? nil : lower..<upper, reason, now: now)
        }
        return true
    }

    /// What each peer sends before a segment is through: peers serve first what is needed first.
    private func chunksOutstanding(upTo id: SegmentID) -> [PeerKey: Int] {
        let start = tracks[id.track][id.index].description.start
        return requests.values.reduce(into: [:]) { ahead, request in
            guard tracks[request.segment.track][request.segment.index].description.start <= start else { return }
            ahead[request.peer, default: 0] += request.open.count
        }
    }

    /// Joins runs over their smallest gaps until two are left.
    static func twoRuns(_ runs: [Range<Int>], first: Range<Int>, last: Range<Int>) -> [Range<Int>] {
        guard runs.count > 2 else { return runs }
        var widest = 0
        for index in 1..<runs.count {
            let gap = runs[index].lowerBound - runs[index - 1].upperBound
            let best = runs[max(widest, 1)].lowerBound - runs[max(widest, 1) - 1].upperBound
            if widest == 0 || gap > best { widest = index }
        }
        return [
            first.lowerBound..<runs[widest - 1].upperBound, runs[widest].lowerBound..<last.upperBound,
        ]
    }

    /// Fetches ahead as a player without peers does: one segment of a track after the other.
    mutating func planAlone(_ id: SegmentID, head: Duration, now: MonotonicInstant) {
        let segment = tracks[id.track][id.index]
        guard !segment.isGone, segment.retryAt <= now, segment.description.start < head + configuration.aloneWindow,
            segment.openTransfer == nil,
            !transfers.values.contains(where: { $0.segment.track == id.track })
        else { return }
        let reason: Reason = segment.record == .none && swarm != .off ? .unshared : .alone
        let holes = segment.present.missing(in: 0..<segment.chunkCount)
        if segment.present.isEmpty || segment.byteCount == nil || !ranges {
            cancelRequests(id, within: 0..<segment.chunkCount)
            fetch(id, chunks: nil, reason, now: now)
        } else if let first = holes.first, let last = holes.last {
            cancelRequests(id, within: first.lowerBound..<last.upperBound)
            fetch(id, chunks: first.lowerBound..<last.upperBound, reason, now: now)
        }
    }

    /// Fetches the stripes that the front, a claim or an election gives to this viewer.
    mutating func planShare(_ id: SegmentID, head: Duration, now: MonotonicInstant) {
        let segment = tracks[id.track][id.index]
        guard segment.description.start < frontEnd(head: head, now: now), !segment.isGone, segment.retryAt <= now,
            let key = segment.shareKey, let geometry = segment.geometry
        else { return }
        let entered = segment.entered ?? now
        tracks[id.track][id.index].entered = entered
        guard let front = front ?? segment.claim?.front else {
            elect(id, entered: entered, now: now)
            return
        }
        let reason: Reason = segment.claim == nil || self.front != nil ? .front : .elected
        let left = timeLeft(id, head: head)
        for share in front.shares(ofStripes: geometry.stripeCount, key: key) {
            guard let rank = effectiveRank(in: front, share: share), rank <= configuration.backupRanks else { continue }
            guard rank == 0 || isBackupDue(rank, entered: entered, left: left, now: now),
                transfers.count < configuration.maximumTransfers
            else { continue }
            let first = geometry.chunkRange(ofStripe: share.stripes.lowerBound).lowerBound
            let last = geometry.chunkRange(ofStripe: share.stripes.upperBound - 1).upperBound
            let chunks = first..<last
            let missing = tracks[id.track][id.index].missing(in: chunks).filter { !isCovered(id, $0) }
            guard let lower = missing.first?.lowerBound, let upper = missing.last?.upperBound else { continue }
            if rank > 0 { noteFailure(of: front.members[share.owner]) }
            let range = geometry.stripeAligned(lower..<upper)
            let isWhole = range == geometry.chunks && segment.present.isEmpty || !ranges
            fetch(id, chunks: isWhole ? nil : range, rank > 0 ? .backup : reason, now: now)
        }
    }

    /// Whether a member that stands behind the owner of a stripe is to fetch it: the owner has had its time, and playback
    /// comes so close that those behind this member need theirs too. What is needed later may still come.
    private func isBackupDue(_ rank: Int, entered: MonotonicInstant, left: Duration, now: MonotonicInstant) -> Bool {
        guard entered.advanced(by: configuration.backupDelay * rank) <= now else { return false }
        let behind = configuration.backupRanks - rank + 1
        return left <= configuration.handoverMargin + configuration.handoverJitter + configuration.backupDelay * behind
    }

    /// This viewer's rank for a share, not counting members that have failed before.
    private func effectiveRank(in front: Front, share: Front.Share) -> Int? {
        guard let rank = front.rank(of: configuration.member, for: share) else { return nil }
        guard rank > 0 else { return 0 }
        let before = (0..<rank).map { front.members[(share.owner + $0) % front.members.count] }
        return before.count { failedOwners[$0, default: 0] < 2 }
    }

    mutating func noteFailure(of owner: MemberID) {
        if failedOwners.count >= Self.memoryLimit { failedOwners.removeAll() }
        failedOwners[owner, default: 0] += 1
    }

    /// Whether some peer has all of a run, or is fetching it.
    private func isCovered(_ id: SegmentID, _ chunks: Range<Int>) -> Bool {
        peers.contains { peer in
            guard peer.uploads, peer.isReliable, let holding = peer.holdings[id] else { return false }
            var all = holding.verified
            all.formUnion(holding.expected)
            return all.contains(chunks)
        }
    }

    /// Waits for this viewer's turn in the election, then claims the segment.
    private mutating func elect(_ id: SegmentID, entered: MonotonicInstant, now: MonotonicInstant) {
        // What a peer holds that never uploads, or answers nothing, is of no use to anybody.
        let isSeen = peers.contains { peer in
            guard peer.uploads, peer.isReliable, let holding = peer.holdings[id] else { return false }
            return !holding.verified.isEmpty || !holding.expected.isEmpty
        }
        guard !isSeen else { return }
        let wait = Election.wait(
            draw: tracks[id.track][id.index].draw, size: swarmSize,
            span: configuration.electionSpan)
        guard entered.advanced(by: wait) <= now else { return }
        let helpers = peers.filter { $0.uploads && $0.restsUntil <= now }.map(\.member).prefix(7)
        let owners = [configuration.member] + helpers
        tracks[id.track][id.index].claim = SegmentState.Claim(
            claimer: configuration.member, front: Front(members: owners),
            expires: now.advanced(by: configuration.claimLife))
        emit(.claim(id, waited: wait, owners: owners))
        planShare(id, head: playhead(now), now: now)
    }

    mutating func fetch(_ id: SegmentID, chunks: Range<Int>?, _ reason: Reason, now: MonotonicInstant) {
        let transfer = makeTransferID()
        transfers[transfer] = CDNTransfer(segment: id, chunks: chunks, startedAt: now)
        update(id) { segment in
            if chunks == nil || segment.byteCount == nil { segment.openTransfer = transfer }
        }
        recount(id)
        emit(.fetch(transfer, id, chunks: chunks, reason))
    }

    private mutating func cancelRequests(_ id: SegmentID, within chunks: Range<Int>) {
        for request in requests.keys.sorted() {
            guard let open = requests[request], open.segment == id,
                open.open.ranges.contains(where: { $0.overlaps(chunks) })
            else { continue }
            release(request, open)
            emit(.cancelRequest(request, open.peer, .handedOver))
        }
    }
}
