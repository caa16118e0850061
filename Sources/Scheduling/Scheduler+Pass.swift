internal import CoreModel

/// One pass over the window: what each segment still needs, and from whom.
extension Scheduler {
    /// The swarm's size, as far as known.
    var swarmSize: Int {
        if case .joined(let size) = swarm { max(size, peers.count + 1) } else { peers.count + 1 }
    }

    /// How the viewer stands towards the swarm: without one; waiting for the tracker's answer; joined, while what the
    /// others hold is not yet known; or in it.
    enum Standing: Sendable { case alone, joining, settling, shared }

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
        areOffersFresh = false
        urgentHorizon = nil
        let head = playhead(now)
        expire(head: head, now: now)
        let shareEnd = frontEnd(head: head, now: now)
        let end = max(head + configuration.peerWindow, shareEnd)
        for track in tracks.indices {
            tracks[track].moveWindow(from: head, to: end, limit: configuration.windowByteCount)
        }
        dropUnwanted(now: now)
        let standing = standing(now)
        if standing != lastStanding {
            lastStanding = standing
            rouseAll()
        }
        let isWaiting = tracks.indices.contains { tracks[$0].isWaiting }
        var far = head + max(horizon(), backupHorizon)
        for track in tracks.indices { tracks[track].resetCursor(far: far, shareEnd: shareEnd) }
        refreshOffers(now: now)
        offersFrom = head + configuration.peerWindow
        var canAsk = openPeers != 0
        var last: SegmentID?
        var isTight = false
        timeToSpare = nil
        while let id = nextOpen(after: last, askable: canAsk ? openPeers : 0) {
            last = id
            let urgent = planUrgent(id, head: head, standing: standing, now: now)
            if !urgent, standing == .alone || tracks[id.track].segments[id.index].record == .none {
                planAlone(id, head: head, now: now)
            }
            let isComing = !isTight && isPlayedAsItComes(id, head: head)
            if isComing {
                // A CDN that is too slow to play from is never through; then the swarm's need is everybody's.
                if !hasPlayed || canPlayFromCDN(id) { timeToSpare = timeLeft(id, head: head) }
                // What playback begins with comes as it would without peers.
                if isStartup(id), canPlayFromCDN(id) { isTight = true }
            }
            if standing == .shared || standing == .settling, tracks[id.track].segments[id.index].record == .valid {
                if standing == .shared { planShare(id, head: head, end: shareEnd, now: now) }
                if canAsk, !isTight, planPeers(id, head: head, now: now) { canAsk = hasCapacity(now: now) }
            }
            // What others send of later segments takes its share of the line from what can't wait.
            if isComing { isTight = true }
            endSuperseded(id, now: now)
            if tracks[id.track].segments[id.index].isGone { reportUnreachable(id, head: head) }
            if standing == .shared, !isTight, tracks[id.track].descriptions[id.index].start > far {
                tracks[id.track].setAwaited(id.index, awaitedPeers(id, head: head, end: shareEnd, now: now))
            }
            // What is taken back from a peer leaves it room.
            if canAsk { refreshOffers(now: now) }
            // A fetch makes what comes later urgent earlier.
            if urgentHorizon == nil {
                far = max(far, head + max(horizon(), backupHorizon))
                for track in tracks.indices { tracks[track].extendNear(to: far) }
            }
        }
        if isWaiting || !requests.isEmpty { return now.advanced(by: .milliseconds(100)) }
        return nextEntry(head: head, now: now)
    }

    /// The next segment of the windows to look at by need, earlier playback first, then lower place and track.
    ///
    /// - Parameter askable: The peers that may be asked, as a mask.
    private mutating func nextOpen(after last: SegmentID?, askable: UInt64) -> SegmentID? {
        var best: SegmentID?
        for track in tracks.indices {
            while let index = tracks[track].next(askable) {
                let id = SegmentID(track: track, index: index)
                // One that was passed over and has been roused since has had its turn.
                if let last, !isBefore(last, id) {
                    tracks[track].pass(index)
                    continue
                }
                if best.map({ isBefore(id, $0) }) ?? true { best = id }
                break
            }
        }
        if let best { tracks[best.track].pass(best.index) }
        return best
    }

    private mutating func isBefore(_ left: SegmentID, _ right: SegmentID) -> Bool {
        let leftStart = tracks[left.track].descriptions[left.index].start
        let rightStart = tracks[right.track].descriptions[right.index].start
        return leftStart < rightStart || leftStart == rightStart && left < right
    }

    /// Whether playback is about to need what the CDN is sending of a segment.
    private mutating func isPlayedAsItComes(_ id: SegmentID, head: Duration) -> Bool {
        transfers.contains { $0.segment == id }
            && timeLeft(id, head: head) < configuration.tightSpan
            && tracks[id.track].descriptions[id.index].start <= head + configuration.tightSpan
    }

    /// The peers without which nothing will be decided about a segment before it, or what all segments depend on, changes or
    /// its playback comes near: they hold what is missing, and nothing is this viewer's to fetch. All when that isn't so.
    private mutating func awaitedPeers(_ id: SegmentID, head: Duration, end: Duration, now: MonotonicInstant) -> UInt64
    {
        guard isFetchable(id, now: now), tracks[id.track].segments[id.index].room != nil,
            tracks[id.track].segments[id.index].record == .valid,
            tracks[id.track].descriptions[id.index].start < head + configuration.peerWindow,
            let geometry = tracks[id.track].segments[id.index].geometry
        else { return .max }
        let taken = taken(id)
        let isOutside = tracks[id.track].descriptions[id.index].start >= end
        guard isOutside || isShareDone(id, geometry, taken) else { return .max }
        var mask: UInt64 = 0
        var index = 0
        for holder in tracks[id.track].segments[id.index].holders {
            while peers[index].key < holder.peer { index += 1 }
            if !holder.holding.isWithin(taken) { mask |= Self.mask(ofPeer: index) }
        }
        return mask
    }

    /// Something that every segment depends on has changed.
    mutating func rouseAll() {
        for track in tracks.indices { tracks[track].rouseAll() }
    }

    /// Whether some peer can be asked for more.
    private mutating func hasCapacity(now: MonotonicInstant) -> Bool {
        peers.indices.contains { peers[$0].isOpen(now: now, configuration) }
    }

    /// Where the front's window ends: counted from the leading viewer, who needs the bytes first.
    func frontEnd(head: Duration, now: MonotonicInstant) -> Duration {
        guard let front else { return head + configuration.frontWindow }
        let lead = front.leadPosition + frontAsOf.duration(to: now)
        return max(head, min(lead, head + .seconds(30))) + configuration.frontWindow
    }

    /// When the next segment comes into the window.
    private func nextEntry(head: Duration, now: MonotonicInstant) -> MonotonicInstant? {
        guard isPlaying else { return nil }
        let reach = head + configuration.peerWindow
        let isMore = tracks.contains { ($0.descriptions.last?.start ?? .zero) >= reach }
        return isMore ? now.advanced(by: .milliseconds(500)) : nil
    }

    /// Ends what has waited too long: stalled peers and void claims.
    private mutating func expire(head: Duration, now: MonotonicInstant) {
        for index in peers.indices.reversed() where peers[index].outstandingChunks > 0 {
            let silence = peers[index].lastProgress.duration(to: now)
            if silence > configuration.peerStall { expirePeer(at: index, silence: silence, head: head, now: now) }
        }
        var place = 0
        while place < claims.count {
            let claim = claims[place]
            let id = claim.segment
            let first = tracks[id.track].firstIndex(at: head)
            guard claim.expires <= now, first..<first + 64 ~= id.index else {
                place += 1
                continue
            }
            removeClaim(of: id)
            tracks[id.track].segments[id.index].entered = now
            tracks[id.track].rouse(id.index)
            if !isShown(id), claim.claimer != configuration.member {
                remember(claim.claimer, until: now.advanced(by: .seconds(180)))
            }
        }
    }

    /// Takes back what a silent peer was asked, unless all of it waits for the peer's own source too.
    private mutating func expirePeer(at index: Int, silence: Duration, head: Duration, now: MonotonicInstant) {
        let key = peers[index].key
        let isStanding = requests.allSatisfy { $0.peer != key || $0.isStanding }
        guard silence > patience(with: key, head: head) * (isStanding ? 2 : 1) else { return }
        var place = 0
        while place < requests.count {
            guard requests[place].peer == key else {
                place += 1
                continue
            }
            let id = requests[place].id
            release(at: place)
            emit(.cancelRequest(id, key, .stalled))
        }
        peers[index].stall(silence: silence)
        rouseAll()
        peers[index].restsUntil = now.advanced(by: .seconds(1 << min(peers[index].stalls, 5)))
        noteFailure(of: peers[index].member)
        // One that has never sent anything gets one more chance only.
        let chances = configuration.maximumPeerStalls - (peers[index].throughput.bytesPerSecond == nil ? 1 : 0)
        if peers[index].stalls >= chances {
            emit(.drop(key, .unreliable))
            remove(key)
        }
    }

    /// How long a peer may send nothing: it serves first what is needed first, so that who asks for what has time may have
    /// to wait for others.
    private mutating func patience(with key: PeerKey, head: Duration) -> Duration {
        var left = configuration.peerWindow
        for request in requests where request.peer == key {
            left = min(left, tracks[request.segment.track].descriptions[request.segment.index].start - head)
        }
        return max(configuration.peerStall, left / 6)
    }

    private mutating func remember(_ claimer: MemberID, until: MonotonicInstant) {
        if ignoredClaimers.count >= Self.memoryLimit { ignoredClaimers.removeAll() }
        ignoredClaimers[claimer] = until
    }

    /// Whether some peer that uploads has verified a chunk of the segment.
    func isShown(_ id: SegmentID) -> Bool {
        tracks[id.track].segments[id.index].holders.contains { holder in
            guard !holder.holding.verified.isEmpty, let peer = peerIndex(holder.peer) else { return false }
            return peers[peer].uploads
        }
    }

    private mutating func dropUnwanted(now: MonotonicInstant) {
        var index = 0
        while index < transfers.count {
            if isWanted(transfers[index].segment) {
                index += 1
            } else {
                emit(.cancelFetch(close(at: index).id, .unwanted))
            }
        }
        index = 0
        while index < requests.count {
            if isWanted(requests[index].segment) {
                index += 1
            } else {
                let (id, peer) = (requests[index].id, requests[index].peer)
                release(at: index)
                emit(.cancelRequest(id, peer, .unwanted))
            }
        }
    }

    private func isWanted(_ id: SegmentID) -> Bool { tracks[id.track].window.contains(id.index) }

    private mutating func reportUnreachable(_ id: SegmentID, head: Duration) {
        let segment = tracks[id.track].segments[id.index]
        let room = tracks[id.track].reached(id.index) - head
        guard !segment.isUnreachableReported, transfers.allSatisfy({ $0.segment != id }),
            room <= .zero || (hasPlayed && !isPlaying && room < .seconds(1))
        else { return }
        // Peers may have what the CDN has lost, all of it.
        var left = segment.present
        for holder in segment.holders where segment.record == .valid {
            if let peer = peerIndex(holder.peer), peers[peer].uploads { left.formUnion(holder.holding.verified) }
        }
        guard !left.contains(0..<tracks[id.track].chunkCount(id.index)) else { return }
        tracks[id.track].segments[id.index].isUnreachableReported = true
        emit(.unreachable(id))
    }
}
