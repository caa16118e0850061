public import CoreModel

/// What comes out.
extension Neighbourhood {
    /// The next thing to do. Call it until it returns `.wait`.
    ///
    /// Links that have had an input come first, in the order of the inputs; then dials and what is told of holdings and
    /// peers; then turns of upload.
    public mutating func poll(now: MonotonicInstant, environment: inout some PeerEnvironment) -> NeighbourhoodOutput {
        // A claim that was not passed on by now goes no further.
        if pendingClaim != nil { pendingClaim = nil }
        if now >= earliestDeadline { expire(now: now) }
        while true {
            if let output = takeOutput() { return output }
            if firstDue < due.count {
                if let output = serve(due[firstDue], now: now, environment: &environment) { return output }
            } else if nextTick <= now {
                tick(now: now, environment: &environment)
            } else if nextAnnouncement <= now {
                announceHoldings(now: now)
            } else if turnsLeft != nil || nextRound <= now {
                giveTurn(now: now, environment: &environment)
            } else {
                return .wait(until: nextDeadline())
            }
        }
    }

    private mutating func takeOutput() -> NeighbourhoodOutput? {
        guard firstOutput < outputs.count else { return nil }
        let output = outputs[firstOutput]
        firstOutput += 1
        if firstOutput == outputs.count {
            outputs = []
            firstOutput = 0
        }
        return output
    }

    /// Finds whose deadline has come.
    private mutating func expire(now: MonotonicInstant) {
        earliestDeadline = .distantFuture
        for slot in deadlines.indices where deadlines[slot] <= now { markDue(slot) }
        guard !resumptions.isEmpty else { return }
        for resumption in resumptions where resumption.at <= now {
            guard let slot = slot(of: resumption.id) else { continue }
            neighbours[slot].flags.remove(.isPaused)
            put(.resumeReading(resumption.id))
        }
        resumptions.removeAll { $0.at <= now }
    }

    private mutating func nextDeadline() -> MonotonicInstant? {
        due.removeAll(keepingCapacity: true)
        firstDue = 0
        var earliest = MonotonicInstant.distantFuture
        for deadline in deadlines { earliest = min(earliest, deadline) }
        for resumption in resumptions { earliest = min(earliest, resumption.at) }
        earliestDeadline = earliest
        earliest = min(earliest, nextTick, nextRound, nextAnnouncement)
        return earliest == .distantFuture ? nil : earliest
    }

    /// Lets a link work until it waits.
    ///
    /// - Returns: What is to be done before it goes on; `nil` when it waits, or something was put among the outputs.
    private mutating func serve(
        _ slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> NeighbourhoodOutput? {
        while outputs.isEmpty {
            let flags = neighbours[slot].flags
            guard !flags.contains(.isFree) else {
                // It ended while it was due.
                firstDue += 1
                return nil
            }
            guard flags.contains(.isOpen) else {
                serveUnopened(slot, now: now)
                return nil
            }
            if flags.contains(.hasTransmitted) { checkQueue(slot, environment: &environment) }
            let writable = writable(slot, now: now, environment: &environment)
            if writable <= 0, !uploads.isActive(slot, now: now) { neighbours[slot].link.rejectNeglected(now: now) }
            let payload = neighbours[slot].link.statistics.sentPayloadByteCount
            let id = neighbours[slot].id
            let news = writable > 0 ? newsBesideData(for: slot, now: now) : []
            let output = neighbours[slot].link.poll(
                now: now, writable: writable, companions: news, source: environment.source)
            awaitsChunks[slot] = neighbours[slot].link.hasStandingChunks
            switch output {
            case .transmit(let bytes):
                budget.spend(bytes.count, now: now)
                neighbours[slot].flags.insert(.hasTransmitted)
                if neighbours[slot].link.statistics.sentPayloadByteCount > payload {
                    if !news.isEmpty { noteTold(slot, now: now) }
                    if uploading == slot { uploading = nil }
                    if !neighbours[slot].pacing.isEmpty { neighbours[slot].pacing[0].didSend(now: now) }
                    if uploads.didSend(slot, now: now) { markUploadersDue() }
                }
                return .transmit(id, bytes)
            case .event(let event):
                if let event = handle(event, slot: slot, now: now, environment: &environment) { return .event(event) }
            case .wait(let deadline):
                // What waits for a disk now leaves its place to others.
                if writable > 0, !neighbours[slot].link.hasReadyChunks { noteUploads(slot, .none, now: now) }
                // Requests that had just come have become ready in this poll, or are rejected now.
                let wasChoking = isChoking
                if writable <= 0 {
                    if self.writable(slot, now: now, environment: &environment) > 0 || isChoking != wasChoking {
                        continue
                    }
                    // What was waited for so long that it is to be rejected as soon as it is there.
                    if !uploads.isActive(slot, now: now), neighbours[slot].link.patienceEnd() <= now { continue }
                }
                deadlines[slot] = self.deadline(deadline, slot: slot, now: now, environment: &environment)
                neighbours[slot].flags.remove(.isDue)
                firstDue += 1
                return nil
            }
        }
        return nil
    }

    /// A link that was dialled and not answered in time, or ended before that.
    private mutating func serveUnopened(_ slot: Int, now: MonotonicInstant) {
        if neighbours[slot].link.isOver {
            end(slot, .link(.local(.done)), now: now)
        } else if now >= neighbours[slot].link.handshakeDeadline {
            end(slot, .link(.handshakeTimeout), now: now)
        } else {
            deadlines[slot] = neighbours[slot].link.handshakeDeadline
            neighbours[slot].flags.remove(.isDue)
        }
        firstDue += 1
    }

    /// Drops a peer that does not read.
    private mutating func checkQueue(_ slot: Int, environment: inout some PeerEnvironment) {
        neighbours[slot].flags.remove(.hasTransmitted)
        if environment.queuedByteCount(of: neighbours[slot].id) > configuration.maximumQueuedByteCount {
            neighbours[slot].link.close(.silent)
        }
    }

    /// When a link has to be looked at, given when its machine wants to be.
    private mutating func deadline(
        _ deadline: MonotonicInstant?, slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> MonotonicInstant {
        var earliest = deadline ?? .distantFuture
        guard neighbours[slot].link.hasReadyChunks else { return earliest }
        if !uploads.isActive(slot, now: now) {
            earliest = min(earliest, uploads.turn(of: slot) ?? .distantFuture, neighbours[slot].link.patienceEnd())
            guard uploads.isStalled(slot) else { return earliest }
        } else {
            earliest = min(earliest, uploads.stallTime(of: slot))
            if isUploadMetered {
                beginRoundWhenAllowed(now: now)
                return earliest
            }
        }
        if let pacing = neighbours[slot].pacing.first, pacing.nextFrame > now {
            earliest = min(earliest, pacing.nextFrame)
        }
        // It waits for the transport, which tells when its queue is drained, but mostly not when the other side
        // acknowledges.
        if environment.tellsAcknowledgements { return earliest }
        let id = neighbours[slot].id
        guard environment.queuedByteCount(of: id) == 0 else { return earliest }
        return min(earliest, now.advanced(by: Self.pacingPause(environment.roundTrip(of: id))))
    }

    /// How long to leave a link whose pacer's window is full.
    static func pacingPause(_ roundTrip: Duration?) -> Duration {
        min(max((roundTrip ?? .milliseconds(20)) / 4, .milliseconds(2)), .milliseconds(50))
    }

    private mutating func handle(
        _ event: LinkEvent, slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> NeighbourhoodEvent? {
        switch event {
        case .candidate(let peer, let bytes):
            switch check(bytes[...], of: peer, environment: &environment) {
            case .success(let box):
                neighbours[slot].certificate = box
                neighbours[slot].link.admit(now: now)
            case .failure(let refusal): neighbours[slot].link.refuse(refusal.code)
            }
            return nil
        case .established(let peer, let hello):
            establish(slot, peer, hello, now: now)
            return nil
        case .closed(let linkEnd):
            firstDue += 1
            end(slot, .link(linkEnd), now: now)
            return nil
        case .claim, .peers, .have, .leaves, .chunk, .rejected, .requestTimedOut, .choked, .unchoked, .record,
            .recordRequested, .roundTrip:
            guard let peer = neighbours[slot].peer else { return nil }
            let id = neighbours[slot].id
            if case .claim(let frame) = event {
                return receive(frame, from: peer, on: id, now: now, environment: &environment)
            }
            if case .have(let entries) = event { note(entries, slot: slot, now: now) }
            guard case .peers(let entries) = event else { return .received(event, from: peer, on: id) }
            receive(entries, slot: slot, now: now, environment: &environment)
            return nil
        }
    }
}
