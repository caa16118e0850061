internal import CoreModel

/// Whose turn it is to upload, and how much.
extension Neighbourhood {
    /// How long the peers are told to leave this side alone when the share is used up: it grows with each download.
    private static let sharePause: Duration = .seconds(2)
    /// How long the share stays used up before they are told.
    private static let sharePatience: Duration = .seconds(1)
    /// The same when nothing but time helps.
    private static let volumePause: Duration = .seconds(600)
    /// Upload that must be allowed again before requests are.
    private static let unchokeByteCount = 256 * 1024
    /// Turns of a round, bounded so that the driver gets on with the rest.
    private static let roundLength = 64

    /// Whether a cap on the rate makes the links take turns.
    var isUploadMetered: Bool { budget.caps.bytesPerSecond != nil }

    /// Bytes of data that a link may hand to its transport now.
    mutating func writable(_ slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment) -> Int {
        let hasReady = neighbours[slot].link.hasReadyChunks
        // Most links have nothing to upload most of the time.
        if !hasReady, uploads.isIdle(slot) { return 0 }
        noteUploads(slot, hasReady ? neighbours[slot].link.readyNeed() : .none, now: now)
        guard uploads.isActive(slot, now: now) || uploads.isStalled(slot),
            isReady(slot, now: now, environment: &environment), uploads.isActive(slot, now: now)
        else { return 0 }
        if isUploadMetered, uploading != slot { return 0 }
        let allowance = budget.allowance(now: now)
        if allowance <= 0 { chokeIfUsedUp(now: now) }
        return allowance
    }

    /// Takes note of what a link needs most, and lets those go on that may send now.
    mutating func noteUploads(_ slot: Int, _ need: UploadNeed, now: MonotonicInstant) {
        if uploads.update(slot, need, now: now) { markUploadersDue() }
    }

    /// Those that may send and may have waited for it.
    mutating func markUploadersDue() {
        guard !isUploadMetered else { return }
        for slot in uploads.candidates { markDue(slot) }
    }

    /// Whether a link's transport takes a chunk now. One that takes none for too long leaves its place to others.
    private mutating func isReady(
        _ slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> Bool {
        let isReady = isTransportReady(slot, now: now, environment: &environment)
        if uploads.note(slot, isReady: isReady, now: now) { markUploadersDue() }
        return isReady
    }

    private mutating func isTransportReady(
        _ slot: Int, now: MonotonicInstant, environment: inout some PeerEnvironment
    ) -> Bool {
        let id = neighbours[slot].id
        guard environment.queuedByteCount(of: id) == 0 else { return false }
        // Loopback has no queue to spare.
        guard !neighbours[slot].address.isLoopback else { return true }
        let inFlight = environment.unacknowledgedByteCount(of: id)
        if neighbours[slot].pacing.isEmpty { neighbours[slot].pacing = [LinkPacing()] }
        let sent = environment.sentByteCount(of: id)
        neighbours[slot].pacing[0].note(sent: sent, inFlight: inFlight, now: now)
        if neighbours[slot].pacing[0].isSampleDue(now: now), let roundTrip = environment.roundTrip(of: id) {
            neighbours[slot].pacing[0].sample(roundTrip, acknowledged: sent - inFlight, now: now)
            if slot == uploads.first { noteQueue(of: slot) }
        }
        return neighbours[slot].pacing[0].hasRoom(inFlight: inFlight, now: now)
    }

    /// Takes note of whether the link in most need fills the uplink, so that others would only slow it down.
    private mutating func noteQueue(of slot: Int) {
        let isFull = neighbours[slot].pacing[0].pacer.isQueueing
        guard uploads.isUplinkFull != isFull else { return }
        uploads.isUplinkFull = isFull
        if !isFull { markUploadersDue() }
    }

    /// Takes note of bytes that came in.
    ///
    /// - Returns: How long to stop reading, when the downlink is limited and used up.
    mutating func countDownload(_ byteCount: Int, now: MonotonicInstant) -> Duration? {
        budget.receive(byteCount, now: now)
        if isChoking, budget.volumeAllowance(now: now) >= Self.unchokeByteCount {
            isChoking = false
            for slot in neighbours.indices {
                neighbours[slot].link.unchoke()
                markDue(slot)
            }
        }
        if shareUsedUpAt != .distantFuture, budget.volumeAllowance(now: now) > 0 {
            shareUsedUpAt = .distantFuture
            for slot in neighbours.indices where neighbours[slot].link.hasReadyChunks { markDue(slot) }
        }
        guard let rate = configuration.downloadBytesPerSecond else { return nil }
        // A tenth of a second may come in a burst: what TCP's window brings at once.
        let level = downlink.level(rate: rate, capacity: rate / 10, now: now)
        downlink.take(Double(byteCount))
        guard level < Double(byteCount) else { return nil }
        return max(.milliseconds(1), now.duration(to: downlink.refilled(rate: rate)))
    }

    mutating func pauseReading(_ slot: Int, until resumption: MonotonicInstant) {
        let id = neighbours[slot].id
        resumptions.removeAll { $0.id == id }
        resumptions.append((id, resumption))
        if neighbours[slot].flags.insert(.isPaused).inserted { put(.pauseReading(id)) }
    }

    /// Gives the next link that has something to upload its turn, while the budget lasts.
    mutating func giveTurn(now: MonotonicInstant, environment: inout some PeerEnvironment) {
        nextRound = .distantFuture
        let left = turnsLeft ?? Self.roundLength
        // One that had its turn and sent nothing after all must not go on and on.
        guard uploading == nil, left > 0, budget.allowance(now: now) > 0,
            let slot = nextUploader(now: now, environment: &environment)
        else { return endRound(now: now, environment: &environment) }
        turnsLeft = left - 1
        uploading = slot
        markDue(slot)
    }

    private mutating func endRound(now: MonotonicInstant, environment: inout some PeerEnvironment) {
        let isBlocked = uploading == nil && turnsLeft != 0
        turnsLeft = nil
        uploading = nil
        guard hasUploads else { return }
        beginRoundWhenAllowed(now: now)
        // While the transports are what it waits for, asking more often is no use.
        guard isBlocked, nextRound != .distantFuture, budget.allowance(now: now) > 0 else { return }
        var pause: Duration?
        for slot in neighbours.indices where neighbours[slot].hasUploads {
            let id = neighbours[slot].id
            // A queue tells when it is drained.
            guard environment.queuedByteCount(of: id) == 0 else { continue }
            let own = Self.pacingPause(environment.roundTrip(of: id))
            pause = min(pause ?? own, own)
        }
        nextRound = pause.map { now.advanced(by: $0) } ?? .distantFuture
    }

    /// Plans the next round of turns.
    mutating func beginRoundWhenAllowed(now: MonotonicInstant) {
        guard turnsLeft == nil, let next = budget.nextAllowance(now: now) else { return }
        nextRound = min(nextRound, max(next, now.advanced(by: .microseconds(200))))
    }

    /// How long a choke lasts that begins now.
    mutating func chokePause(now: MonotonicInstant) -> Duration {
        budget.isVolumeUsedUp(now: now) ? Self.volumePause : Self.sharePause
    }

    /// Rejects what a link has queued and new requests for a while: the caps are used up.
    mutating func choke(_ slot: Int, for pause: Duration, now: MonotonicInstant) {
        neighbours[slot].link.choke(for: pause, now: now)
        neighbours[slot].link.rejectQueued(.capped, retryAfter: pause)
        markDue(slot)
    }

    /// Whether any link has something to upload.
    private var hasUploads: Bool {
        for slot in neighbours.indices where neighbours[slot].link.hasReadyChunks { return true }
        return false
    }

    private mutating func nextUploader(now: MonotonicInstant, environment: inout some PeerEnvironment) -> Int? {
        let active = uploads.candidates.filter { uploads.isActive($0, now: now) }
        for offset in active.indices {
            let slot = active[(nextTurn + offset) % active.count]
            guard neighbours[slot].hasUploads, isReady(slot, now: now, environment: &environment) else { continue }
            nextTurn = (nextTurn + offset + 1) % active.count
            return slot
        }
        return nil
    }

    /// Tells the peers when the share, the day's volume or the meter forbids uploads: they ask others.
    private mutating func chokeIfUsedUp(now: MonotonicInstant) {
        guard !isChoking, budget.volumeAllowance(now: now) <= 0, hasUploads else { return }
        if !budget.isVolumeUsedUp(now: now) {
            // The share grows with what comes in: while it does, requests wait a moment instead of being turned away.
            shareUsedUpAt = min(shareUsedUpAt, now)
            guard shareUsedUpAt.advanced(by: Self.sharePatience) <= now else { return }
        }
        isChoking = true
        let pause = chokePause(now: now)
        for slot in neighbours.indices { choke(slot, for: pause, now: now) }
    }
}
