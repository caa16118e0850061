internal import CoreModel
internal import TrackerProtocol

/// Who is told of whom.
extension TrackerStore {
    /// Suggests peers: close in play position first, then close in the network, the rest by chance.
    mutating func suggest(
        _ count: Int, to connection: ConnectionKey, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let stream = streams[connection], var member = swarms[stream]?.members[connection] else { return }
        if member.toldSince.duration(to: now) > .seconds(3600) {
            member.toldSince = now
            member.toldAddresses = 0
        }
        var budget = min(count, configuration.peersPerAnswer, ControlProtocol.maximumPeerCount)
        if !member.address.isLoopback { budget = min(budget, configuration.addressesPerHour - member.toldAddresses) }
        guard budget > 0, let others = swarms[stream]?.members else { return }
        let own = member.position(at: now)
        var candidates: [(distance: Int, network: Int, luck: UInt64, member: Member)] = []
        for key in others.keys.sorted() {
            guard let other = others[key], key != connection, other.address.port != 0,
                Self.mayMeet(member.address, other.address)
            else { continue }
            // Positions within five seconds are as good as equal.
            let distance = abs(Int((other.position(at: now) - own).inSeconds / 5))
            candidates.append((distance, Self.distance(member.address, other.address), generator.next(), other))
        }
        candidates.sort { ($0.distance, $0.network, $0.luck) < ($1.distance, $1.network, $1.luck) }
        // A fifth of the answer is drawn from everybody, so that no one can fill it with neighbours of its own.
        let chosen = candidates.prefix(budget * 4 / 5)
        let rest = candidates.dropFirst(chosen.count).sorted { $0.luck < $1.luck }.prefix(budget - chosen.count)
        let peers = (Array(chosen) + Array(rest)).map {
            PeerCandidate(
                peer: $0.member.peer, address: $0.member.address,
                positionMilliseconds: UInt64(max(0, $0.member.position(at: now).inMilliseconds)))
        }
        guard !peers.isEmpty else { return }
        member.toldAddresses += peers.count
        swarms[stream]?.members[connection] = member
        emit(.send(connection, .peers(peers)))
    }

    /// Private addresses never leave their group.
    private static func mayMeet(_ first: NetworkAddress, _ second: NetworkAddress) -> Bool {
        if first.isLoopback || second.isLoopback { return first.isLoopback && second.isLoopback }
        if first.isPrivate || second.isPrivate { return first.isPrivate && second.isPrivate }
        return true
    }

    private static func distance(_ first: NetworkAddress, _ second: NetworkAddress) -> Int {
        if first.host == second.host { return 0 }
        return first.sitePrefix == second.sitePrefix ? 1 : 2
    }

    // MARK: - Fronts

    /// Tells a new member of the front that holds; a swarm's first one is named 400 ms later, with those who come at
    /// the same time.
    mutating func greet(_ connection: ConnectionKey, in stream: StreamID, now: MonotonicInstant) {
        guard let swarm = swarms[stream] else { return }
        // As if one had been named a little earlier.
        if swarm.members.count == 1 { swarms[stream]?.frontSentAt = now.advanced(by: .milliseconds(-600)) }
        guard !swarm.frontMembers.isEmpty, swarm.frontUntil > now else { return nameFront(of: stream, now: now) }
        let lead = swarm.members.values.map { $0.position(at: now) }.max() ?? .zero
        emit(
            .send(
                connection,
                .front(
                    TrackerProtocol.Front(
                        generation: swarm.frontGeneration,
                        validForMilliseconds: UInt32(clamping: now.duration(to: swarm.frontUntil).inMilliseconds),
                        leadPositionMilliseconds: UInt64(max(0, lead.inMilliseconds)), members: swarm.frontMembers))))
        nameFront(of: stream, now: now)
    }

    /// Names the front of a swarm's leading cohort when it has changed or runs out.
    ///
    /// At most once a second, so that a crowd that joins together costs one message each.
    mutating func nameFront(of stream: StreamID, now: MonotonicInstant) {
        guard let swarm = swarms[stream] else { return }
        let isEnding = swarm.frontUntil < now + .seconds(8)
        guard swarm.isFrontStale || isEnding, swarm.frontSentAt.duration(to: now) >= .seconds(1) else { return }
        let playing = swarm.members.values.filter { $0.isPlaying || $0.positionAsOf.duration(to: now) < .seconds(60) }
        guard let lead = playing.map({ $0.position(at: now) }).max() else { return }
        let cohort = playing.filter { lead - $0.position(at: now) <= configuration.cohortSpan }
        let members = choose(from: cohort, kept: swarm.frontMembers)
        swarms[stream]?.isFrontStale = false
        // The same front again only when the old one runs out.
        guard members != swarm.frontMembers || isEnding else { return }
        let generation = swarm.frontGeneration + 1
        let until = now + configuration.frontLife
        swarms[stream]?.frontMembers = members
        swarms[stream]?.frontGeneration = generation
        swarms[stream]?.frontUntil = until
        swarms[stream]?.frontSentAt = now
        let front = TrackerProtocol.Front(
            generation: generation, validForMilliseconds: UInt32(clamping: configuration.frontLife.inMilliseconds),
            leadPositionMilliseconds: UInt64(max(0, lead.inMilliseconds)), members: members)
        for member in swarm.members.values.sorted(by: { $0.connection < $1.connection }) {
            emit(.send(member.connection, .front(front)))
        }
    }

    /// Chooses a front: those who upload, proven ones first, as many as the swarm's size and their uplinks ask for.
    private func choose(from cohort: [Member], kept: [PeerID]) -> [PeerID] {
        let old = Set(kept)
        let usable = cohort.filter { $0.flags.allowsUpload && $0.address.port != 0 }.sorted { first, second in
            // Who has taken plenty and given nothing comes last; who was in stays, so that fronts don't flicker.
            let a = (Self.isSuspect(first) ? 1 : 0, old.contains(first.peer) ? 0 : 1)
            let b = (Self.isSuspect(second) ? 1 : 0, old.contains(second.peer) ? 0 : 1)
            return a == b ? first.peer < second.peer : a < b
        }
        let size = cohort.count
        var count = min(usable.count, max(8, Int(Double(size).squareRoot() * 2)))
        let bitrate = cohort.map(\.mediaBitsPerSecond).max() ?? 0
        let known = usable.prefix(count).filter { $0.uplinkBitsPerSecond > 0 }
        if bitrate > 0, known.count == count {
            var sum = known.reduce(0) { $0 + $1.uplinkBitsPerSecond }
            while count < usable.count, sum < 8 * bitrate {
                sum += usable[count].uplinkBitsPerSecond
                count += 1
            }
        }
        let trusted = usable.prefix(min(count, configuration.maximumFrontCount)).filter { !Self.isSuspect($0) }
        return trusted.map(\.peer).sorted()
    }

    /// Whether a viewer has had its chance to upload and has not.
    private static func isSuspect(_ member: Member) -> Bool {
        member.bytesFromCDN > 4 << 20 && member.bytesFromPeers > 4 << 20 && member.bytesUploaded == 0
    }
}
