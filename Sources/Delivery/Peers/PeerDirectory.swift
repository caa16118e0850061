package import CoreModel

/// Peers that could be dialled, with back-off. A value: the manager passes time and randomness in.
package struct PeerDirectory: Sendable {
    /// Peers that are kept; beyond, the one that failed most and longest ago is forgotten.
    package static let limit = 256
    /// Failures after which a peer is forgotten, until somebody names it again.
    package static let failureLimit = 5

    /// A peer that could be dialled.
    package struct Candidate: Hashable, Sendable {
        /// Its name.
        package var peer: PeerID
        /// Where it listens.
        package var address: NetworkAddress
        /// Attempts that failed in a row.
        package var failureCount = 0
        /// When it may be tried again.
        package var nextAttempt: MonotonicInstant
    }

    private var candidates: [Candidate] = []

    package init() {}

    /// The number of peers known.
    package var count: Int { candidates.count }

    /// Takes note of a peer; a new address of a known one replaces the old and may be tried at once.
    package mutating func insert(_ peer: PeerID, at address: NetworkAddress, now: MonotonicInstant) {
        if let index = candidates.firstIndex(where: { $0.peer == peer }) {
            guard candidates[index].address != address else { return }
            candidates[index] = Candidate(peer: peer, address: address, nextAttempt: now)
            return
        }
        if candidates.count >= Self.limit, let worst = worst() { candidates.remove(at: worst) }
        candidates.append(Candidate(peer: peer, address: address, nextAttempt: now))
    }

    /// The peer to dial now: the one that has been due the longest.
    package func next(now: MonotonicInstant, where isWanted: (Candidate) -> Bool) -> Candidate? {
        candidates.filter { $0.nextAttempt <= now && isWanted($0) }.min { $0.nextAttempt < $1.nextAttempt }
    }

    /// When a peer that is wanted becomes due.
    package func nextDeadline(where isWanted: (Candidate) -> Bool) -> MonotonicInstant? {
        candidates.filter(isWanted).map(\.nextAttempt).min()
    }

    /// Takes note that an attempt failed: the next one is 5 s, 10 s, 20 s… later, give or take a quarter.
    package mutating func fail(
        _ peer: PeerID, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) {
        guard let index = candidates.firstIndex(where: { $0.peer == peer }) else { return }
        candidates[index].failureCount += 1
        guard candidates[index].failureCount < Self.failureLimit else {
            candidates.remove(at: index)
            return
        }
        let seconds = 5.0 * Double(1 << (candidates[index].failureCount - 1))
        postpone(peer, by: .seconds(seconds * Double.random(in: 0.75...1.25, using: &generator)), now: now)
    }

    /// Takes note that a link came about.
    package mutating func succeed(_ peer: PeerID) {
        guard let index = candidates.firstIndex(where: { $0.peer == peer }) else { return }
        candidates[index].failureCount = 0
    }

    /// Leaves a peer alone for a while.
    package mutating func postpone(_ peer: PeerID, by pause: Duration, now: MonotonicInstant) {
        guard let index = candidates.firstIndex(where: { $0.peer == peer }) else { return }
        candidates[index].nextAttempt = now.advanced(by: pause)
    }

    /// Forgets a peer.
    package mutating func remove(_ peer: PeerID) { candidates.removeAll { $0.peer == peer } }

    private func worst() -> Int? {
        candidates.indices.max {
            (candidates[$0].failureCount, candidates[$1].nextAttempt)
                < (candidates[$1].failureCount, candidates[$0].nextAttempt)
        }
    }
}
