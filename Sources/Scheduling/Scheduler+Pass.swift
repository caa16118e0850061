internal import CoreModel

/// One pass over the window: what each segment still needs, and from whom.
extension Scheduler {
    /// The swarm's size, as far as known.
    var swarmSize: Int {
        if case .joined(let size) = swarm { max(size, peers.count + 1) } else { peers.count + 1 }
    }

    /// How the viewer stands towards the swarm: without one; waiting for the tracker's answer; joined, while what the
    /// others hold is not yet known; or in it.
    enum Standing { case alone, joining, settling, shared }

    func standing(_ now: MonotonicInstant) -> Standing {
        switch swarm {
        case .off: .alone
        case .joining(let until): now < until ? .joining : (peers.isEmpty ? .alone : .shared)
        case .joined(let size):
            if !isSettled(size: size, now: now) { .settling } else { peers.isEmpty ? .alone : .shared }
        }
    }

    /// Whether the others have had time to say what they hold, the tracker to name a front, and those who start at the
    /// same time to join: fetching ahead before that would fetch it again.
    private func isSettled(size: Int, now: MonotonicInstant) -> Bool {
        guard let joinedAt else { return true }
        // Links to others may take longer than it takes to know that there are none.
        let patience = configuration.settleTime * (size > 1 && peers.isEmpty ? 4 : 1)
        if joinedAt.duration(to: now) >= patience { return true }
        return front != nil && size > 1 && peers.count >= min(size - 1, 4)
            && lastLinkAt.duration(to: now) >= configuration.settleTime / 8
    }

    /// Decides everything that the present state asks for.
    ///
    /// - Returns: The instant at which the next pass is due without an input.
    mutating func runPass(now: MonotonicInstant) -> MonotonicInstant? {
        expire(now: now)
        let head = playhead(now)
        let window = segmentsInWindow(from: head, now: now)
        dropUnwanted(keeping: window, now: now)
        let standing = standing(now)
        var isWaiting = false
        var canAsk = hasCapacity(now: now)
        for id in window {
            guard !tracks[id.track][id.index].isComplete else { continue }
            isWaiting = true
            let urgent = planUrgent(id, head: head, standing: standing, now: now)
            if !urgent, standing == .alone || tracks[id.track][id.index].record == .none {
                planAlone(id, head: head, now: now)
            }
            if standing == .shared || standing == .settling, tracks[id.track][id.index].shareKey != nil {
                if standing == .shared { planShare(id, head: head, now: now) }
                if canAsk {
                    planPeers(id, head: head, now: now)
                    canAsk = hasCapacity(now: now)
                }
            }
            reportUnreachable(id, head: head, now: now)
        }
        if isWaiting || !requests.isEmpty { return now.advanced(by: .milliseconds(100)) }
        return nextEntry(after: window, head: head, now: now)
    }

    /// Whether some peer can be asked for more.
    private func hasCapacity(now: MonotonicInstant) -> Bool {
        peers.contains { $0.uploads && $0.restsUntil <= now && $0.capacity(configuration) > 0 }
    }

    /// The incomplete and complete segments that may be worked on, by need: earlier playback first, then lower track.
    func segmentsInWindow(from head: Duration, now: MonotonicInstant) -> [SegmentID] {
        let end = max(head + configuration.peerWindow, frontEnd(head: head, now: now))
        var window: [(start: Duration, id: SegmentID)] = []
        for track in tracks.indices {
            let segments = tracks[track]
            var index = firstIndex(track: track, at: head)
            var byteCount = 0
            while index < segments.count, segments[index].description.start < end,
                byteCount < configuration.windowByteCount
            {
                byteCount += segments[index].byteCount ?? segments[index].description.estimatedByteCount
                window.append((segments[index].description.start, SegmentID(track: track, index: index)))
                index += 1
            }
        }
        return window.sorted { ($0.start, $0.id) < ($1.start, $1.id) }.map(\.id)
    }

    /// The first segment of a track that ends after `head`.
    func firstIndex(track: Int, at head: Duration) -> Int {
        let segments = tracks[track]
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].description.end <= head { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Where the front's window ends: counted from the leading viewer, who needs the bytes first.
    func frontEnd(head: Duration, now: MonotonicInstant) -> Duration {
        guard let front else { return head + configuration.frontWindow }
        let lead = front.leadPosition + frontAsOf.duration(to: now)
        return max(head, min(lead, head + .seconds(30))) + configuration.frontWindow
    }

    /// When the next segment comes into the window.
    private func nextEntry(after window: [SegmentID], head: Duration, now: MonotonicInstant) -> MonotonicInstant? {
        guard isPlaying else { return nil }
        let reach = head + configuration.peerWindow
        let isMore = tracks.contains { ($0.last?.description.start ?? .zero) >= reach }
        return isMore ? now.advanced(by: .milliseconds(500)) : nil
    }

    /// Ends what has waited too long: stalled peers and void claims.
    private mutating func expire(now: MonotonicInstant) {
        for index in peers.indices.reversed() where peers[index].outstandingChunks > 0 {
            let key = peers[index].key
            let own = requests.filter { $0.value.peer == key }
            // A standing request waits for the peer's own source too.
            let patience = configuration.peerStall * (own.values.allSatisfy(\.isStanding) ? 2 : 1)
            guard peers[index].lastProgress.duration(to: now) > patience else { continue }
            for id in own.keys.sorted() {
                guard let request = own[id] else { continue }
                release(id, request)
                emit(.cancelRequest(id, key, .stalled))
            }
            peers[index].stalls += 1
            peers[index].trust = max(0.05, peers[index].trust / 2)
            peers[index].restsUntil = now.advanced(by: .seconds(1 << min(peers[index].stalls, 5)))
            noteFailure(of: peers[index].member)
            // One that has never sent anything gets one more chance only.
            let chances = configuration.maximumPeerStalls - (peers[index].throughput.bytesPerSecond == nil ? 1 : 0)
            if peers[index].stalls >= chances {
                emit(.drop(key, .unreliable))
                remove(key)
            }
        }
        for track in tracks.indices {
            let first = firstIndex(track: track, at: playhead(now))
            for index in first..<min(tracks[track].count, first + 64) {
                guard let claim = tracks[track][index].claim, claim.expires <= now else { continue }
                let id = SegmentID(track: track, index: index)
                tracks[track][index].claim = nil
                tracks[track][index].entered = now
                if !isShown(id), claim.claimer != configuration.member {
                    remember(claim.claimer, until: now.advanced(by: .seconds(180)))
                }
            }
        }
    }

    private mutating func remember(_ claimer: MemberID, until: MonotonicInstant) {
        if ignoredClaimers.count >= Self.memoryLimit { ignoredClaimers.removeAll() }
        ignoredClaimers[claimer] = until
    }

    /// Whether some peer that uploads has verified a chunk of the segment.
    func isShown(_ id: SegmentID) -> Bool {
        peers.contains { $0.uploads && !($0.holdings[id]?.verified.isEmpty ?? true) }
    }

    private mutating func dropUnwanted(keeping window: [SegmentID], now: MonotonicInstant) {
        let wanted = Set(window)
        for id in transfers.keys.sorted() {
            guard let transfer = transfers[id], !wanted.contains(transfer.segment) else { continue }
            close(id, transfer)
            emit(.cancelFetch(id, .unwanted))
        }
        for id in requests.keys.sorted() {
            guard let request = requests[id], !wanted.contains(request.segment) else { continue }
            release(id, request)
            emit(.cancelRequest(id, request.peer, .unwanted))
        }
    }

    private mutating func reportUnreachable(_ id: SegmentID, head: Duration, now: MonotonicInstant) {
        let segment = tracks[id.track][id.index]
        let room = segment.reached - head
        guard segment.isGone, !segment.isUnreachableReported, transfers.values.allSatisfy({ $0.segment != id }),
            room <= .zero || (hasPlayed && !isPlaying && room < .seconds(1))
        else { return }
        // Peers may have what the CDN has lost, all of it.
        var left = segment.present
        for peer in peers where peer.uploads && segment.shareKey != nil {
            left.formUnion(peer.holdings[id]?.verified ?? ChunkSet())
        }
        guard !left.contains(0..<segment.chunkCount) else { return }
        tracks[id.track][id.index].isUnreachableReported = true
        emit(.unreachable(id))
    }
}
