internal import CoreModel

/// What comes from the CDN.
extension Scheduler {
    // Much of what follows only looks, and is `mutating` all the same: a state as large as this is copied for a method that
    // isn't.

    /// The time until the first missing byte of a segment is played, were playback running.
    mutating func timeLeft(_ id: SegmentID, head: Duration) -> Duration {
        let start = tracks[id.track].descriptions[id.index].start
        guard start <= head else { return start - head }
        // The segment under the playhead is played while it comes in.
        return tracks[id.track].reachedAtLeast(id.index) - head
    }

    /// The time until a chunk is played: where a segment plays while it comes in, its end has longer than its start.
    mutating func timeLeft(_ id: SegmentID, chunk: Int, of count: Int, head: Duration) -> Duration {
        let description = tracks[id.track].descriptions[id.index]
        guard description.playsProgressively else { return timeLeft(id, head: head) }
        return PlayTimes(description).time(before: chunk, of: count) - head
    }

    /// What the CDN needs after all that is under way.
    mutating func cdnPace() -> CDNPace {
        var pace = CDNPace(
            rate: cdnRate, latency: cdnLatency ?? configuration.unprovenCDNLatency,
            factor: configuration.handoverFactor)
        for transfer in transfers {
            let all = 0..<tracks[transfer.segment.track].chunkCount(transfer.segment.index)
            let chunks = transfer.chunks?.clamped(to: all) ?? all
            pace.backlog += max(0, chunks.count * SegmentGeometry.chunkByteCount - transfer.receivedByteCount)
        }
        return pace
    }

    /// Whether the CDN, at its measured rate, brings a segment in the time that it plays.
    mutating func canPlayFromCDN(_ id: SegmentID) -> Bool {
        guard let rate = cdnThroughput.bytesPerSecond else { return true }
        let byteCount = tracks[id.track].chunkCount(id.index) * SegmentGeometry.chunkByteCount
        return rate * tracks[id.track].descriptions[id.index].duration.inSeconds >= Double(byteCount)
    }

    /// Before its playback by more than this no segment is urgent, whatever is missing of it.
    mutating func horizon() -> Duration {
        if let urgentHorizon { return urgentHorizon }
        let margin = max(configuration.startupMargin, configuration.handoverMargin + configuration.handoverJitter)
        let horizon = cdnPace().scaledTime(chunks: largestChunkCount) + margin
        urgentHorizon = horizon
        return horizon
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
        guard isFetchable(id, now: now), tracks[id.track].segments[id.index].openTransfer == nil else { return false }
        let start = tracks[id.track].descriptions[id.index].start
        if !hasPlayed, start <= head, startupSegments[id.track] == nil {
            startupSegments[id.track] = id.index..<startupEnd(id, head: head)
        }
        let isStart = isStartup(id)
        if isStart, startUp(id, head: head, standing: standing, now: now) { return true }
        let known = tracks[id.track].segments[id.index].room
        if known != nil, start - head > horizon() { return false }
        var pending = tracks[id.track].segments[id.index].present
        pending.formUnion(tracks[id.track].segments[id.index].fetching)
        let all = 0..<tracks[id.track].chunkCount(id.index)
        let chunks = pending.missingCount(in: all)
        guard chunks > 0 else { return false }
        let left = timeLeft(id, head: head)
        // While the first transfer measures the CDN, only what is being played can't wait for the result.
        if cdnThroughput.bytesPerSecond == nil, !isStart, !transfers.isEmpty, left > .milliseconds(500) { return false }
        let pace = cdnPace()
        let need = pace.scaledTime(chunks: chunks)
        // A CDN that can be played from is asked in time, whatever peers promise: it is what makes good for them. And it
        // makes no difference where it needs little for all that is missing.
        let isSlow = need > configuration.peerReserve && !canPlayFromCDN(id)
        let outlook = isSlow ? PeerOutlook(of: id, in: self, now: now) : PeerOutlook()
        // A segment that was wanted late leaves peers most of the little time there is.
        let room = known ?? left
        tracks[id.track].segments[id.index].room = room
        let margin =
            isStart
            ? hasPlayed ? configuration.handoverMargin : configuration.startupMargin
            : min(configuration.handoverMargin + jitter(id), max(room, .zero) / 3)
        // On one line, transfers one after another in the order of need are never later than side by side, which would make
        // what is played first come last.
        guard !isSomethingEarlierComing(id) else { return false }
        let reason: Reason = isStart ? .startup : .deadline
        if asksForRanges, tracks[id.track].descriptions[id.index].playsProgressively,
            tracks[id.track].segments[id.index].geometry != nil
        {
            let times = PlayTimes(tracks[id.track].descriptions[id.index])
            let holes = dueHoles(
                pending.missing(in: all), times, pace, outlook, count: all.count, margin: margin, head: head)
            return !holes.isEmpty && handOver(id, holes: holes, head: head, reason: reason, now: now)
        }
        let scaled = outlook.limit(need, for: chunks, in: all, left: left, configuration)
        guard left <= scaled + margin else { return false }
        return handOver(id, holes: pending.missing(in: all), head: head, reason: reason, now: now)
    }

    /// What the CDN has to be asked for now of a segment that plays while it comes in, with what follows soon.
    ///
    /// - Parameter holes: What is missing.
    private mutating func dueHoles(
        _ holes: [Range<Int>], _ times: PlayTimes, _ pace: CDNPace, _ outlook: PeerOutlook, count: Int,
        margin: Duration, head: Duration
    ) -> [Range<Int>] {
        let lead = configuration.handoverLead.nanosecondsClamped
        let until = (times.start - head).nanosecondsClamped
        let margin = margin.nanosecondsClamped
        let reserve = configuration.peerReserve.nanosecondsClamped
        /// The nanoseconds to spare for a chunk, were all that is missing up to it asked for now.
        func slack(_ chunk: Int, _ missing: Int) -> Int64 {
            let left = until &+ times.nanoseconds(before: chunk, of: count)
            let need = pace.scaledNanoseconds(chunks: missing)
            guard need > reserve else { return left &- need &- margin }
            let limit = outlook.limit(
                .nanoseconds(need), for: missing, in: chunk..<chunk + 1, left: .nanoseconds(left), configuration)
            return left &- limit.nanosecondsClamped &- margin
        }
        // Within a hole it is least at one of its ends, or where the first picture ends.
        let kink = Int(Double(count) * PlayTimes.firstPicture)
        var isDue = false
        var end = 0
        var missing = 0
        for hole in holes {
            let kinked = min(max(kink, hole.lowerBound), hole.upperBound - 1)
            let ends: InlineArray<3, Int> = [hole.lowerBound, kinked, hole.upperBound - 1]
            for place in ends.indices {
                let chunk = ends[place]
                let least = slack(chunk, missing + chunk - hole.lowerBound + 1)
                if least <= 0 { isDue = true }
                if least <= lead { end = chunk + 1 }
            }
            // Only a part of it: the last chunk that is.
            if end > hole.lowerBound, end < hole.upperBound {
                var (low, high) = (end, hole.upperBound)
                while low < high {
                    let middle = (low + high) / 2
                    let rest = slack(middle, missing + middle - hole.lowerBound + 1)
                    if rest <= lead { low = middle + 1 } else { high = middle }
                }
                end = low
            }
            missing += hole.count
        }
        guard isDue else { return [] }
        return holes.compactMap { $0.lowerBound < end ? $0.lowerBound..<min($0.upperBound, end) : nil }
    }

    /// Whether the CDN may be asked for the segment: it is not known to be without it, nor has it just failed.
    mutating func isFetchable(_ id: SegmentID, now: MonotonicInstant) -> Bool {
        !tracks[id.track].segments[id.index].isGone && tracks[id.track].segments[id.index].retryAt <= now
    }

    /// Whether the CDN is sending what is still missing of an earlier segment.
    private func isSomethingEarlierComing(_ id: SegmentID) -> Bool {
        transfers.contains {
            $0.segment.track == id.track && $0.segment.index < id.index && !isComplete($0.segment)
        }
    }

    /// Whether playback begins with the segment.
    func isStartup(_ id: SegmentID) -> Bool { startupSegments[id.track]?.contains(id.index) ?? false }

    /// The first segment that playback does not begin with.
    private func startupEnd(_ id: SegmentID, head: Duration) -> Int {
        let descriptions = tracks[id.track].descriptions
        var end = id.index + 1
        while end < descriptions.count, descriptions[end].start < head + configuration.startupSpan { end += 1 }
        return end
    }

    /// The first fetch of what playback begins with: without a swarm the segment, else as much of it as that takes.
    private mutating func startUp(_ id: SegmentID, head: Duration, standing: Standing, now: MonotonicInstant) -> Bool {
        let segment = tracks[id.track].segments[id.index]
        // One after another, as a player without peers asks for them.
        guard segment.present.isEmpty, segment.fetching.isEmpty, !isSomethingEarlierComing(id) else { return false }
        let chunks = startupChunkCount(id, head: head)
        let isAll =
            !tracks[id.track].descriptions[id.index].playsProgressively
            || segment.byteCount != nil && chunks >= tracks[id.track].chunkCount(id.index)
        if standing == .alone || segment.record == .none || !asksForRanges || isAll {
            fetch(id, chunks: nil, standing == .alone ? .alone : .startup, now: now)
            return true
        }
        // Peers that hold the segment and have proven themselves start as fast as the CDN.
        let isHeld = segment.holders.contains { holder in
            guard holder.holding.verified.contains(0), let peer = peerIndex(holder.peer) else { return false }
            return peers[peer].throughput.bytesPerSecond != nil && peers[peer].restsUntil <= now
        }
        guard !isHeld else { return false }
        fetch(id, chunks: 0..<chunks, .startup, now: now)
        return true
    }

    /// How many chunks of its first segment playback begins with, in whole stripes: who starts in the middle of a segment
    /// waits for all before the playhead too, and a second request would come a round trip or two after the first.
    private func startupChunkCount(_ id: SegmentID, head: Duration) -> Int {
        let description = tracks[id.track].descriptions[id.index]
        let count = tracks[id.track].chunkCount(id.index)
        let least = configuration.startupStripes * SegmentGeometry.chunksPerStripe
        let span = head + configuration.startupSpan - description.start
        let fraction = min(max(span.inSeconds / max(description.duration.inSeconds, 0.001), 0), 1)
        let needed = Double(count) * (PlayTimes.firstPicture + (1 - PlayTimes.firstPicture) * fraction)
        let stripes = (Int(needed) + SegmentGeometry.chunksPerStripe) / SegmentGeometry.chunksPerStripe
        return max(least, stripes * SegmentGeometry.chunksPerStripe)
    }

    /// Gives what peers won't bring in time to the CDN, as at most two runs. A run that nothing could verify without its
    /// whole stripes has these.
    private mutating func handOver(
        _ id: SegmentID, holes: [Range<Int>], head: Duration, reason: Reason, now: MonotonicInstant
    ) -> Bool {
        guard transfers.count < configuration.maximumUrgentTransfers else { return false }
        var late = ChunkSet()
        for hole in holes { late.insert(hole) }
        let count = tracks[id.track].chunkCount(id.index)
        let ahead = chunksOutstanding(upTo: id)
        let pace = cdnPace()
        let cdn = pace.time(late.count * SegmentGeometry.chunkByteCount)
        for request in requests where request.segment == id {
            guard let peer = peerIndex(request.peer).map({ peers[$0] }), let chunk = request.open.firstChunk(from: 0)
            else { continue }
            let finish = peer.time(for: ahead[request.peer, default: 0], configuration)
            let left = timeLeft(id, chunk: chunk, of: count, head: head)
            let need = min(pace.scaledTime(chunks: missing(holes, upTo: chunk)), configuration.peerReserve)
            let lastMoment = need + configuration.startupMargin
            guard !peer.isSilent(now) || left > lastMoment else { continue }
            let isSooner = peer.throughput.bytesPerSecond != nil && finish < cdn
            if isSooner || finish + .milliseconds(100) < left { late.subtract(request.open) }
        }
        guard let first = late.ranges.first, let last = late.ranges.last else { return false }
        let segment = tracks[id.track].segments[id.index]
        guard asksForRanges, let geometry = segment.geometry else {
            cancelRequests(id, within: 0..<count)
            fetch(id, chunks: nil, reason, now: now)
            return true
        }
        for run in Self.twoRuns(late.ranges, first: first, last: last) {
            let chunks = verifiable(run, geometry, segment.present)
            let wanted = segment.present.missing(in: chunks)
            guard let lower = wanted.first?.lowerBound, let upper = wanted.last?.upperBound else { continue }
            let isWhole = lower == 0 && upper == geometry.chunkCount && segment.present.isEmpty
            cancelRequests(id, within: lower..<upper)
            fetch(id, chunks: isWhole ? nil : lower..<upper, reason, now: now)
        }
        return true
    }

    private mutating func missing(_ holes: [Range<Int>], upTo chunk: Int) -> Int {
        holes.reduce(0) { $0 + max(0, min($1.upperBound, chunk + 1) - $1.lowerBound) }
    }

    /// A run with the rest of the stripes at its ends, where no chunk of these is there: the leaves came with the first.
    private func verifiable(_ run: Range<Int>, _ geometry: SegmentGeometry, _ present: ChunkSet) -> Range<Int> {
        let first = geometry.chunkRange(ofStripe: geometry.stripe(ofChunk: run.lowerBound))
        let last = geometry.chunkRange(ofStripe: geometry.stripe(ofChunk: run.upperBound - 1))
        let lower = present.missingCount(in: first) == first.count ? first.lowerBound : run.lowerBound
        let upper = present.missingCount(in: last) == last.count ? last.upperBound : run.upperBound
        return lower..<upper
    }

    /// What each peer sends before a segment is through: peers serve first what is needed first.
    private func chunksOutstanding(upTo id: SegmentID) -> [PeerKey: Int] {
        let start = tracks[id.track].descriptions[id.index].start
        return requests.reduce(into: [:]) { ahead, request in
            guard tracks[request.segment.track].descriptions[request.segment.index].start <= start else { return }
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
        guard isFetchable(id, now: now),
            tracks[id.track].descriptions[id.index].start < head + configuration.aloneWindow,
            tracks[id.track].segments[id.index].openTransfer == nil,
            !transfers.contains(where: { $0.segment.track == id.track })
        else { return }
        let segment = tracks[id.track].segments[id.index]
        let all = 0..<tracks[id.track].chunkCount(id.index)
        let reason: Reason = segment.record == .none && swarm != .off ? .unshared : .alone
        let holes = segment.present.missing(in: all)
        if segment.present.isEmpty || segment.byteCount == nil || !asksForRanges {
            cancelRequests(id, within: all)
            fetch(id, chunks: nil, reason, now: now)
        } else if let first = holes.first, let last = holes.last {
            cancelRequests(id, within: first.lowerBound..<last.upperBound)
            fetch(id, chunks: first.lowerBound..<last.upperBound, reason, now: now)
        }
    }

    /// Fetches the stripes that the front, a claim or an election gives to this viewer.
    ///
    /// - Parameter end: Where the front's window ends.
    mutating func planShare(_ id: SegmentID, head: Duration, end: Duration, now: MonotonicInstant) {
        guard tracks[id.track].descriptions[id.index].start < end, isFetchable(id, now: now),
            let key = tracks[id.track].segments[id.index].shareKey,
            let geometry = tracks[id.track].segments[id.index].geometry
        else { return }
        let entered = tracks[id.track].segments[id.index].entered ?? now
        tracks[id.track].segments[id.index].entered = entered
        guard let front = front ?? claim(of: id)?.front else {
            return elect(id, entered: entered, head: head, end: end, now: now)
        }
        guard let place = front.members.firstIndex(of: configuration.member) else { return }
        let left = timeLeft(id, head: head)
        let count = front.members.count
        let parts = min(count, geometry.stripeCount)
        let shift = Int(key % UInt64(count))
        guard left <= backupHorizon || !failedOwners.isEmpty else {
            // Nobody's backup is due, so that only this viewer's own share is left.
            let part = (place - shift + count) % count
            guard part < parts else { return }
            let own = front.share(part, of: parts, geometry.stripeCount, shift)
            return planShare(id, front, own, 0, geometry, left: left, now: now)
        }
        for part in 0..<parts {
            let share = front.share(part, of: parts, geometry.stripeCount, shift)
            let rank = effectiveRank(in: front, share: share, place: place)
            guard rank <= configuration.backupRanks else { continue }
            guard rank == 0 || isBackupDue(rank, entered: entered, left: left, now: now) else { continue }
            planShare(id, front, share, rank, geometry, left: left, now: now)
        }
    }

    /// Whether nothing is left for this viewer to fetch for the swarm, as long as no backup is due.
    mutating func isShareDone(_ id: SegmentID, _ geometry: SegmentGeometry, _ taken: ChunkSet) -> Bool {
        guard let front = front ?? claim(of: id)?.front else { return isSeen(id) }
        guard let place = front.members.firstIndex(of: configuration.member) else { return true }
        guard let key = tracks[id.track].segments[id.index].shareKey else { return false }
        let shift = Int(key % UInt64(front.members.count))
        let parts = min(front.members.count, geometry.stripeCount)
        var taken = taken
        taken.formUnion(covered(id))
        for part in 0..<parts {
            let share = front.share(part, of: parts, geometry.stripeCount, shift)
            guard effectiveRank(in: front, share: share, place: place) == 0 else { continue }
            let first = geometry.chunkRange(ofStripe: share.stripes.lowerBound).lowerBound
            let last = geometry.chunkRange(ofStripe: share.stripes.upperBound - 1).upperBound
            guard taken.nextMissingRun(in: first..<last) == nil else { return false }
        }
        return true
    }

    /// Fetches what is missing of one share.
    private mutating func planShare(
        _ id: SegmentID, _ front: Front, _ share: Front.Share, _ rank: Int, _ geometry: SegmentGeometry,
        left: Duration, now: MonotonicInstant
    ) {
        guard transfers.count < configuration.maximumTransfers else { return }
        let first = geometry.chunkRange(ofStripe: share.stripes.lowerBound).lowerBound
        let last = geometry.chunkRange(ofStripe: share.stripes.upperBound - 1).upperBound
        var taken = taken(id)
        guard taken.nextMissingRun(in: first..<last) != nil else { return }
        taken.formUnion(covered(id))
        let holes = taken.missing(in: first..<last)
        guard let lower = holes.first?.lowerBound, let upper = holes.last?.upperBound else { return }
        let missing = lower..<upper
        // An owner of whose share something is about has not failed: the rest has until playback comes near.
        if rank > 0, left > backupSpan, isSeen(id, first..<last) { return }
        if rank > 0 { noteFailure(of: front.members[share.owner]) }
        let range = geometry.stripeAligned(missing)
        // What the swarm needs later must not delay what can't wait.
        if let timeToSpare {
            let bytes = range.count * SegmentGeometry.chunkByteCount
            let need = cdnPace().time(bytes) + configuration.startupMargin / 2
            guard need <= timeToSpare else { return }
        }
        let isWhole = range == geometry.chunks && tracks[id.track].segments[id.index].present.isEmpty || !asksForRanges
        let isElected = self.front == nil && tracks[id.track].segments[id.index].hasClaim
        let reason: Reason = rank > 0 ? .backup : isElected ? .elected : .front
        fetch(id, chunks: isWhole ? nil : range, reason, now: now)
    }

    /// Before its playback by more than this no backup of a segment is due.
    var backupHorizon: Duration {
        configuration.handoverMargin + configuration.handoverJitter
            + configuration.backupDelay * configuration.backupRanks
    }

    /// Before its playback by more than this a share of which a part is about is left to its owner.
    private var backupSpan: Duration {
        configuration.handoverMargin + configuration.handoverJitter + configuration.backupDelay
    }

    /// Whether a member that stands behind the owner of a stripe is to fetch it: the owner has had its time, and playback
    /// comes so close that those behind this member need theirs too. What is needed later may still come.
    private func isBackupDue(_ rank: Int, entered: MonotonicInstant, left: Duration, now: MonotonicInstant) -> Bool {
        guard entered.advanced(by: configuration.backupDelay * rank) <= now else { return false }
        let behind = configuration.backupRanks - rank + 1
        return left <= configuration.handoverMargin + configuration.handoverJitter + configuration.backupDelay * behind
    }

    /// The rank for a share of the viewer at a place of the front, not counting members that have failed before.
    private func effectiveRank(in front: Front, share: Front.Share, place: Int) -> Int {
        let rank = (place - share.owner + front.members.count) % front.members.count
        guard rank > 0, hasFailedTwice else { return rank }
        return (0..<rank).count {
            failedOwners[front.members[(share.owner + $0) % front.members.count], default: 0] < 2
        }
    }

    mutating func noteFailure(of owner: MemberID) {
        if failedOwners.count >= Self.memoryLimit { failedOwners.removeAll() }
        failedOwners[owner, default: 0] += 1
        rouseAll()
    }

    /// Chunks that some useful peer has, or is fetching.
    private mutating func covered(_ id: SegmentID) -> ChunkSet {
        var covered = ChunkSet()
        // By place: a copy of a holding touches reference counts.
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices where !holders[place].holding.isEmpty && isUseful(holders[place].peer) {
            covered.formUnion(holders[place].holding.verified)
            covered.formUnion(holders[place].holding.expected)
        }
        return covered
    }

    /// Whether what the peer holds is of use to anybody: it uploads, and answers.
    private mutating func isUseful(_ key: PeerKey) -> Bool {
        guard let index = peerIndex(key) else { return false }
        return peers[index].uploads && peers[index].isReliable
    }

    /// Whether some useful peer has a part of the segment, or is fetching it.
    private mutating func isSeen(_ id: SegmentID) -> Bool {
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices where !holders[place].holding.isEmpty && isUseful(holders[place].peer) {
            return true
        }
        return false
    }

    /// Whether some of these chunks is here, or some useful peer has one or is fetching it.
    private mutating func isSeen(_ id: SegmentID, _ chunks: Range<Int>) -> Bool {
        if tracks[id.track].segments[id.index].present.missingCount(in: chunks) < chunks.count { return true }
        let holders = tracks[id.track].segments[id.index].holders
        for place in holders.indices
        where holders[place].holding.all.missingCount(in: chunks) < chunks.count && isUseful(holders[place].peer) {
            return true
        }
        return false
    }

    /// Waits for this viewer's turn in the election, then claims the segment.
    private mutating func elect(
        _ id: SegmentID, entered: MonotonicInstant, head: Duration, end: Duration, now: MonotonicInstant
    ) {
        guard !isSeen(id) else { return }
        let wait = Election.wait(
            draw: tracks[id.track].segments[id.index].draw, size: swarmSize,
            span: configuration.electionSpan)
        guard entered.advanced(by: wait) <= now else { return }
        let helpers = peers.filter { $0.uploads && $0.restsUntil <= now }.map(\.member).prefix(7)
        let owners = [configuration.member] + helpers
        add(
            Claim(
                segment: id, claimer: configuration.member, front: Front(members: owners),
                expires: now.advanced(by: configuration.claimLife)))
        emit(.claim(id, waited: wait, owners: owners))
        planShare(id, head: head, end: end, now: now)
    }

    mutating func fetch(_ id: SegmentID, chunks: Range<Int>?, _ reason: Reason, now: MonotonicInstant) {
        let transfer = makeTransferID()
        transfers.append(CDNTransfer(id: transfer, segment: id, chunks: chunks))
        if chunks == nil || tracks[id.track].segments[id.index].byteCount == nil {
            tracks[id.track].segments[id.index].openTransfer = transfer
        }
        recount(id)
        urgentHorizon = nil
        emit(.fetch(transfer, id, chunks: chunks, reason))
    }

    private mutating func cancelRequests(_ id: SegmentID, within chunks: Range<Int>) {
        var index = 0
        while index < requests.count {
            guard requests[index].segment == id,
                requests[index].open.firstChunk(from: chunks.lowerBound).map({ $0 < chunks.upperBound }) ?? false
            else {
                index += 1
                continue
            }
            let (request, peer) = (requests[index].id, requests[index].peer)
            release(at: index)
            if let place = peerIndex(peer), peers[place].outstandingChunks == 0 { peers[place].wasTakenBack = true }
            emit(.cancelRequest(request, peer, .handedOver))
        }
    }
}
