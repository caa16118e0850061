internal import CoreModel

/// Peers that could be dialled, with back-off. Time and randomness come in.
struct PeerDirectory: Sendable {
    /// Failures after which a peer is forgotten, until somebody names it again.
    static let failureLimit = 5

    /// Who said where a peer is.
    enum Origin: Hashable, Sendable {
        /// The tracker, or the peer itself with a handshake at that address.
        case tracker
        /// Another peer, which may err or lie.
        case exchange
    }

    /// A peer that could be dialled.
    struct Candidate: Hashable, Sendable {
        /// Its name.
        var peer: PeerID
        /// When it may be tried again.
        var nextAttempt: MonotonicInstant
        /// Where it listens.
        var address: NetworkAddress
        /// Who said so.
        var origin: Origin
        /// Attempts that failed in a row; small, as all of it, since hundreds are kept.
        var failureCount: UInt8 = 0
    }

    /// Peers that are kept; beyond, the one that failed most and longest ago is forgotten.
    private let limit: Int
    private var candidates: [Candidate] = []

    init(limit: Int = 64) { self.limit = limit }

    /// The peers known.
    var all: [Candidate] { candidates }

    /// The number of peers known.
    var count: Int { candidates.count }

    /// Takes note of a peer.
    ///
    /// The tracker's address of a known one replaces the old and may be tried at once. Another peer's replaces only one
    /// that came the same way and has failed, and waits as long as that would have.
    mutating func insert(
        _ peer: PeerID, at address: NetworkAddress, from origin: Origin, now: MonotonicInstant
    ) {
        let candidate = Candidate(peer: peer, nextAttempt: now, address: address, origin: origin)
        if let index = candidates.firstIndex(where: { $0.peer == peer }) {
            let known = candidates[index]
            switch origin {
            case .tracker where known.address == address: candidates[index].origin = .tracker
            case .tracker: candidates[index] = candidate
            case .exchange:
                if known.origin == .exchange, known.failureCount > 0 { candidates[index].address = address }
            }
            return
        }
        if candidates.count >= limit, let worst = worst() { candidates.remove(at: worst) }
        candidates.append(candidate)
    }

    /// The peer to dial now: the one that has been due the longest.
    func next(now: MonotonicInstant, where isWanted: (Candidate) -> Bool) -> Candidate? {
        var best: Int?
        for index in candidates.indices where candidates[index].nextAttempt <= now {
            if let best, candidates[best].nextAttempt <= candidates[index].nextAttempt { continue }
            if isWanted(candidates[index]) { best = index }
        }
        return best.map { candidates[$0] }
    }

    /// When a peer that is wanted becomes due.
    func nextDeadline(where isWanted: (Candidate) -> Bool) -> MonotonicInstant? {
        var earliest: MonotonicInstant?
        for candidate in candidates where earliest.map({ candidate.nextAttempt < $0 }) ?? true {
            if isWanted(candidate) { earliest = candidate.nextAttempt }
        }
        return earliest
    }

    /// Takes note that an attempt failed: the next one is 5 s, 10 s, 20 s… later, give or take a quarter.
    mutating func fail(
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

    /// Takes note that a link came about, and at which address when it was dialled.
    mutating func succeed(_ peer: PeerID, at address: NetworkAddress?) {
        guard let index = candidates.firstIndex(where: { $0.peer == peer }) else { return }
        candidates[index].failureCount = 0
        if candidates[index].address == address { candidates[index].origin = .tracker }
    }

    /// Leaves a peer alone for a while.
    mutating func postpone(_ peer: PeerID, by pause: Duration, now: MonotonicInstant) {
        guard let index = candidates.firstIndex(where: { $0.peer == peer }) else { return }
        candidates[index].nextAttempt = now.advanced(by: pause)
    }

    /// Forgets a peer.
    mutating func remove(_ peer: PeerID) { candidates.removeAll { $0.peer == peer } }

    private func worst() -> Int? {
        candidates.indices.max {
            (candidates[$0].failureCount, candidates[$1].nextAttempt)
                < (candidates[$1].failureCount, candidates[$0].nextAttempt)
        }
    }
}
