internal import CoreModel
internal import TrackerProtocol

/// Who fetches from the CDN for whom.
///
/// A swarm's viewers, ordered by position, fall into *cohorts*: the leading viewer's are those within the cohort span
/// behind it, then come the leading one of the rest and its own, and so on. So a viewer with an absurd position has a
/// cohort of its own and no part in another. A cohort's viewers are told apart by the rendition that they play, as far as its
/// bit rate tells: who fetches stripes for others fetches them of what it plays itself.
extension TrackerStore {
    /// Between two fronts that one swarm's viewers are told, so that a crowd that joins together costs one message each.
    static let frontSpacing: Duration = .seconds(1)
    /// From a swarm's first join to its first front.
    static let firstFrontAfter: Duration = .milliseconds(400)

    /// Tells a new member its front: a new one when the swarm's fronts are due, else the one that those next to it have.
    ///
    /// A swarm's first front is named ``firstFrontAfter`` later, with those who come at the same time.
    mutating func greet(_ member: Member, in id: SwarmID, now: MonotonicInstant) {
        if swarms[id]?.members.count == 1 {
            // As if one had been named a little earlier.
            swarms[id]?.frontSentAt = now + (Self.firstFrontAfter - Self.frontSpacing)
        }
        nameFronts(of: id, now: now)
        guard swarms[id]?.members[member.connection]?.front == nil else { return }
        let own = member.position(at: now)
        var nearest: (distance: Double, peer: PeerID, front: Member.ToldFront)?
        for key in swarms[id]?.neighbours(of: own, now: now) ?? [] {
            guard let other = swarms[id]?.members[key], let front = other.front, front.until > now,
                other.isActive(at: now), member.playsSame(as: other)
            else { continue }
            let distance = abs((other.position(at: now) - own).inSeconds)
            if let best = nearest, (best.distance, best.peer) <= (distance, other.peer) { continue }
            nearest = (distance, other.peer, front)
        }
        guard let nearest, nearest.distance <= configuration.cohortSpan.inSeconds, !nearest.front.members.isEmpty
        else { return }
        let lead = nearest.front.lead + nearest.front.leadAsOf.duration(to: now)
        tell(
            nearest.front, lead: lead, generation: swarms[id]?.frontGeneration ?? 0, to: member.connection, in: id,
            now: now)
    }

    /// Names the fronts of a swarm's cohorts, and tells each viewer whose front has changed or runs out.
    mutating func nameFronts(of id: SwarmID, now: MonotonicInstant) {
        guard let swarm = swarms[id], swarm.frontSentAt.duration(to: now) >= Self.frontSpacing,
            !swarm.isLarge || swarm.frontNamedAt.duration(to: now) >= Self.frontSpacing
        else { return }
        swarms[id]?.frontNamedAt = now
        let active = swarm.members.values.filter { $0.isActive(at: now) }
        guard swarm.isFrontStale || active.contains(where: { isEnding($0.front, now: now) }) else { return }
        swarms[id]?.isFrontStale = false
        var generation: UInt64?
        for group in cohorts(of: active, now: now).flatMap(RenditionGroup.groups) {
            guard let lead = group.members.first?.position(at: now) else { continue }
            let front = Member.ToldFront(
                members: choose(from: group), until: now + configuration.frontLife, lead: lead, leadAsOf: now)
            for member in group.members.sorted(by: { $0.connection < $1.connection }) {
                let isNew = member.front.map { $0.members != front.members } ?? !front.members.isEmpty
                guard isNew || isEnding(member.front, now: now) else { continue }
                if generation == nil {
                    generation = swarm.frontGeneration + 1
                    swarms[id]?.frontGeneration = swarm.frontGeneration + 1
                    swarms[id]?.frontSentAt = now
                }
                tell(front, lead: lead, generation: generation ?? 0, to: member.connection, in: id, now: now)
            }
        }
    }

    private mutating func tell(
        _ front: Member.ToldFront, lead: Duration, generation: UInt64, to connection: ConnectionKey, in id: SwarmID,
        now: MonotonicInstant
    ) {
        swarms[id]?.update(connection) { $0.front = front }
        let message = Front(
            generation: generation,
            validForMilliseconds: UInt32(clamping: now.duration(to: front.until).inMilliseconds),
            leadPositionMilliseconds: Self.milliseconds(lead), members: front.members)
        emit(.send(connection, .front(message)))
    }

    /// An empty front needs no renewal: it means the same when it has run out.
    private func isEnding(_ front: Member.ToldFront?, now: MonotonicInstant) -> Bool {
        guard let front, !front.members.isEmpty else { return false }
        return front.until <= now + configuration.frontRenewal
    }

    /// Cuts the viewers into cohorts, each led by its first.
    private func cohorts(of members: [Member], now: MonotonicInstant) -> [[Member]] {
        let ordered = members.map { (position: $0.position(at: now), member: $0) }
            .sorted { $0.position == $1.position ? $0.member.peer < $1.member.peer : $0.position > $1.position }
        var cohorts: [[Member]] = []
        var lead = Duration.zero
        for (position, member) in ordered {
            if cohorts.isEmpty || lead - position > configuration.cohortSpan {
                guard cohorts.count < configuration.maximumCohortCount else { break }
                cohorts.append([])
                lead = position
            }
            cohorts[cohorts.count - 1].append(member)
        }
        return cohorts
    }

    /// Chooses a group's front: those who upload, as many as its size and their uplinks ask for. Who is new comes in by
    /// the tracker's own draw: a viewer makes its key itself, and could make one that comes first.
    private func choose(from group: RenditionGroup) -> [PeerID] {
        // Who was in stays, so that fronts don't flicker.
        let kept = Set(group.members.flatMap { $0.front?.members ?? [] })
        let usable = group.members.filter { $0.isOfferable && !$0.isSuspect }.sorted { first, second in
            let a = kept.contains(first.peer)
            return a == kept.contains(second.peer) ? (first.nonce, first.peer) < (second.nonce, second.peer) : a
        }
        var count = min(usable.count, max(8, Int(Double(group.members.count).squareRoot() * 2)))
        let bitrate = group.bitsPerSecond
        let known = usable.prefix(count).filter { $0.uplinkBitsPerSecond > 0 }
        if bitrate > 0, known.count == count {
            var sum = known.reduce(0) { $0 + $1.uplinkBitsPerSecond }
            while count < usable.count, sum < 8 * bitrate {
                sum += usable[count].uplinkBitsPerSecond
                count += 1
            }
        }
        let limit = min(count, configuration.maximumFrontCount, ControlProtocol.maximumFrontCount)
        return usable.prefix(limit).map(\.peer).sorted()
    }
}
