internal import CoreModel
internal import TrackerProtocol

/// Who is told of whom.
extension TrackerStore {
    /// Answers a request for peers: with none when there are none, with an error when the credential has had its share.
    mutating func answer(
        _ count: Int, on connection: ConnectionKey, in swarm: SwarmID, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let member = swarms[swarm]?.members[connection] else { return }
        let left = allowance(of: member, now: now)
        guard left.count > 0 else {
            let wait = now.duration(to: left.until).inMilliseconds
            emit(
                .send(
                    connection,
                    .error(ControlError(code: .rateLimited, retryAfterMilliseconds: UInt32(clamping: wait)))))
            return
        }
        if !suggest(count, to: member, in: swarm, now: now, using: &generator) {
            emit(.send(connection, .peers([])))
        }
    }

    /// Suggests peers: close in play position first, then of the same rendition, then close in the network, the rest by chance.
    ///
    /// - Returns: Whether there were any.
    @discardableResult mutating func suggest(
        _ count: Int, to member: Member, in swarm: SwarmID, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        let limit = min(
            count, configuration.peersPerAnswer, ControlProtocol.maximumPeerCount, allowance(of: member, now: now).count
        )
        guard limit > 0 else { return false }
        let own = member.position(at: now)
        var candidates: [(distance: Int, rendition: Int, network: Int, luck: UInt64, key: ConnectionKey)] = []
        for key in swarms[swarm]?.candidates(at: own, now: now, using: &generator) ?? [] {
            guard key != member.connection, let other = swarms[swarm]?.members[key], other.isOfferable,
                Self.mayMeet(member.address, other.address)
            else { continue }
            // Positions within five seconds are as good as equal.
            let distance = abs(Int((other.position(at: now) - own).inSeconds / 5))
            candidates.append(
                (
                    distance, member.playsSame(as: other) ? 0 : 1, Self.distance(member.address, other.address),
                    generator.next(), key
                ))
        }
        candidates.sort {
            ($0.distance, $0.rendition, $0.network, $0.luck) < ($1.distance, $1.rendition, $1.network, $1.luck)
        }
        // A fifth of the answer is drawn from everybody, so that no one can fill it with neighbours of its own.
        let chosen = candidates.prefix(max(1, limit * 4 / 5))
        let rest = candidates.dropFirst(chosen.count).sorted { $0.luck < $1.luck }.prefix(limit - chosen.count)
        let peers = (Array(chosen) + Array(rest)).compactMap { candidate in
            swarms[swarm]?.members[candidate.key].map {
                PeerCandidate(
                    peer: $0.peer, address: $0.address,
                    positionMilliseconds: Self.milliseconds($0.position(at: now)))
            }
        }
        guard !peers.isEmpty else { return false }
        if !member.address.isLoopback { budget.spend(peers.count, by: credential(of: member), now: now) }
        emit(.send(member.connection, .peers(peers)))
        return true
    }

    private func allowance(of member: Member, now: MonotonicInstant) -> (count: Int, until: MonotonicInstant) {
        guard !member.address.isLoopback else { return (.max, now) }
        return budget.left(for: credential(of: member), now: now)
    }

    private func credential(of member: Member) -> Bytes16 {
        tokenKeys.isEmpty ? member.address.countedHost : member.pseudonym
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

    static func milliseconds(_ position: Duration) -> UInt64 { UInt64(max(0, position.inMilliseconds)) }
}
