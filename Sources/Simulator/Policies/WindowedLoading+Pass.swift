internal import CoreModel
internal import Scheduling

/// One pass over the queue.
extension WindowedLoading {
    /// Decides what the present state asks for; the instant at which to look again.
    mutating func pass(now: MonotonicInstant) -> MonotonicInstant? {
        expire(now: now)
        let queue = queue()
        let wanted = (queue.first ?? 0)...(queue.last ?? 0)
        for load in loads.indices.reversed() where queue.isEmpty || !wanted.contains(loads[load].index) {
            cancel(load, .unwanted)
        }
        if isImmediate, let first = queue.first {
            isImmediate = false
            if load(for: first) == nil, !fetch(first, .startup, now: now) { _ = request(first, now: now) }
        }
        for (place, index) in queue.enumerated() {
            if isUrgent(index) {
                planUrgent(index, behind: queue[(place + 1)...], now: now)
            } else {
                if peerLoadCount >= rules.maximumPeerLoads, !isAlone { break }
                plan(index, now: now)
            }
        }
        switch rules.seeding {
        case .election: elect(queue, now: now)
        case .random: if let next = nextSeeding, next <= now { seed(queue, now: now) }
        }
        if let next = nextSeeding, next <= now { armSeeding(now: now) }
        return nextWake(queue, now: now)
    }

    /// What isn't there, from the playhead to the end of the windows.
    private mutating func queue() -> [Int] {
        guard let first = timeline.firstOpen(from: position) else { return [] }
        var queue: [Int] = []
        for index in first..<timeline.count where !timeline.isLoaded(index) {
            let start = timeline[index].start
            let window = segments[index].isOffered ? max(rules.cdnWindow, rules.peerWindow) : rules.cdnWindow
            guard start <= position + window else { break }
            queue.append(index)
        }
        return queue
    }

    /// Without peers there is no election: the 5.0 line then fetches what the player asks for.
    private var isAlone: Bool { rules.seeding == .election && peers.isEmpty }

    private func isUrgent(_ index: Int) -> Bool { timeline[index].start <= position + rules.urgentWindow }

    private var transferCount: Int { loads.count { $0.isFromCDN } }
    private var peerLoadCount: Int { loads.count { !$0.isFromCDN } }

    func load(for index: Int) -> Int? { loads.firstIndex { $0.index == index } }

    private mutating func planUrgent(_ index: Int, behind: ArraySlice<Int>, now: MonotonicInstant) {
        if let load = load(for: index) {
            guard !loads[load].isFromCDN, !(rules.takesUrgentFromPeers && mayStay(loads[load], now: now)),
                canFetch(index, now: now), hasTransferRoom(before: behind), let load = self.load(for: index)
            else { return }
            cancel(load, .handedOver)
            _ = fetch(index, .deadline, now: now)
            return
        }
        if rules.takesUrgentFromPeers, segments[index].peerFailures == 0, peerLoadCount < rules.maximumPeerLoads,
            request(index, isUrgent: true, now: now)
        {
            return
        }
        if canFetch(index, now: now), hasTransferRoom(before: behind) {
            _ = fetch(index, .deadline, now: now)
            return
        }
        guard segments[index].loadedHolders > 0 else { return }
        if peerLoadCount >= rules.maximumPeerLoads {
            guard let last = lastLoad(in: behind, isFromCDN: false) else { return }
            cancel(last, .handedOver)
        }
        _ = request(index, now: now)
    }

    private mutating func plan(_ index: Int, now: MonotonicInstant) {
        guard load(for: index) == nil else { return }
        if peerLoadCount < rules.maximumPeerLoads, request(index, now: now) { return }
        if isAlone, timeline[index].start < position + rules.playerBuffer { _ = fetch(index, .alone, now: now) }
    }

    /// Whether a peer goes on with what is urgent: it was asked for that in the first place, and the CDN could still bring
    /// all of it twice. What became urgent on its way goes to the CDN.
    private func mayStay(_ load: Load, now: MonotonicInstant) -> Bool {
        let left = timeline[load.index].start - position
        return load.wasUrgent && left > fetchTime(load.index, now: now) * 2 + HashElection.allowance
    }

    /// Whether the CDN can be asked for one more, after the last transfer behind was taken back if need be.
    private mutating func hasTransferRoom(before behind: ArraySlice<Int>) -> Bool {
        if transferCount < rules.maximumTransfers { return true }
        guard let last = lastLoad(in: behind, isFromCDN: true) else { return false }
        cancel(last, .unwanted)
        return true
    }

    private func lastLoad(in queue: ArraySlice<Int>, isFromCDN: Bool) -> Int? {
        guard let first = queue.first else { return nil }
        return loads.indices.filter { loads[$0].isFromCDN == isFromCDN && loads[$0].index >= first }
            .max { loads[$0].index < loads[$1].index }
    }

    private func canFetch(_ index: Int, now: MonotonicInstant) -> Bool { segments[index].retryAt <= now }

    /// Gives up what has brought nothing for too long.
    private mutating func expire(now: MonotonicInstant) {
        for load in loads.indices.reversed() where stallsAt(loads[load]) <= now {
            let index = loads[load].index
            if case .peer(let key) = loads[load].source {
                segments[index].peerFailures += 1
                if let place = place(of: key) {
                    peers[place].rate.forget()
                    peers[place].stalls += 1
                    if peers[place].stalls >= rules.maximumPeerStalls { outputs.append(.drop(key, .unreliable)) }
                }
            } else {
                noteFailure(of: index, now: now)
            }
            cancel(load, .stalled)
        }
    }

    private func stallsAt(_ load: Load) -> MonotonicInstant {
        switch load.source {
        case .peer: (load.lastByteAt ?? load.startedAt).advanced(by: rules.peerStall)
        case .cdn:
            load.lastByteAt.map { $0.advanced(by: rules.transferStall) }
                ?? load.startedAt.advanced(by: rules.firstByteStall)
        }
    }

    private func nextWake(_ queue: [Int], now: MonotonicInstant) -> MonotonicInstant? {
        var next = nextSeeding
        func take(_ instant: MonotonicInstant) { next = min(next ?? instant, instant) }
        for load in loads { take(stallsAt(load)) }
        if let first = queue.first, segments[first].retryAt > now { take(segments[first].retryAt) }
        return next
    }

    // MARK: - Seeding

    mutating func armSeeding(now: MonotonicInstant) {
        let draw = Double.random(in: 0..<1, using: &generator)
        let span =
            switch rules.seeding {
            case .random: 1 + draw * Double(peers.count)
            case .election: 1 + draw
            }
        nextSeeding = now.advanced(by: .clamping(seconds: span))
    }

    /// What could be fetched for the swarm: nobody offers it, nobody is at it.
    private func isCandidate(_ index: Int, now: MonotonicInstant) -> Bool {
        !segments[index].isOffered && timeline[index].start <= position + rules.cdnWindow && load(for: index) == nil
            && canFetch(index, now: now)
    }

    private mutating func seed(_ queue: [Int], now: MonotonicInstant) {
        guard !peers.isEmpty, transferCount < rules.maximumTransfers else { return }
        let all = queue.filter { isCandidate($0, now: now) }
        let viewers = Double(peers.count + 1)
        var chosen = Array(all.prefix(rules.maximumTransfers * (peers.count + 1)))
        var probability = Double(chosen.count) / viewers
        chosen.shuffle(using: &generator)
        for index in chosen {
            guard transferCount < rules.maximumTransfers, probability > 0 else { return }
            if probability >= 1 || Double.random(in: 0..<1, using: &generator) <= probability {
                _ = fetch(index, .elected, now: now)
            }
            probability -= 1
        }
    }

    private mutating func elect(_ queue: [Int], now: MonotonicInstant) {
        guard !peers.isEmpty else { return }
        for index in queue {
            guard transferCount < rules.maximumTransfers else { return }
            guard isCandidate(index, now: now), let key = segments[index].key else { continue }
            if segments[index].rankVersion != peersVersion {
                segments[index].rank = HashElection.rank(of: member, among: peers.lazy.map(\.member), segment: key)
                segments[index].rankVersion = peersVersion
            }
            let untilUrgent = timeline[index].start - position - rules.urgentWindow
            let fetchTime = fetchTime(index, now: now)
            guard HashElection.isDue(rank: segments[index].rank, untilUrgent: untilUrgent, fetch: fetchTime) else {
                continue
            }
            _ = fetch(index, segments[index].rank == 0 ? .elected : .backup, now: now)
        }
    }

    /// What a transfer from the CDN should take; at the stream's own rate before the first.
    private func fetchTime(_ index: Int, now: MonotonicInstant) -> Duration {
        let rates = [Duration.seconds(10), .seconds(30)].compactMap { cdnRate.bytesPerSecond(over: $0, now: now) }
        guard let rate = rates.max() else { return timeline[index].duration }
        return .clamping(seconds: (typicalByteCount ?? Double(segments[index].byteCount)) / rate)
    }
}
