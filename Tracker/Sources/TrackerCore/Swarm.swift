internal import CoreModel

/// The viewers of one stream who derive the swarm from the same secret.
struct Swarm: Sendable {
    let stream: StreamID
    let secret: [UInt8]
    private(set) var members: [ConnectionKey: Member] = [:]
    /// Who is connected where; each peer key is in the swarm once.
    private(set) var connections: [PeerID: ConnectionKey] = [:]
    /// The members of each credential.
    private var sessions: [Bytes16: Set<ConnectionKey>] = [:]
    /// Counts the rounds in which fronts were told, so that the last one told to a viewer is the highest.
    var frontGeneration: UInt64 = 0
    /// Something changed that a front may depend on.
    var isFrontStale = false
    /// When fronts were last told.
    var frontSentAt = MonotonicInstant(nanoseconds: .min / 2)
    /// When fronts were last worked out.
    var frontNamedAt = MonotonicInstant(nanoseconds: .min / 2)
    /// What members that have left reported.
    private(set) var left = Traffic()
    /// Those of a large swarm that others are sent to, by position, as of ``rosterAt``; some may have left since.
    private var roster: [(position: Duration, connection: ConnectionKey)] = []
    private var rosterAt = MonotonicInstant(nanoseconds: .min / 2)

    /// Members that one answer looks at; up to as many, a swarm is small, and all are looked at.
    static let neighbourhood = 1024
    /// How old the order by position may be.
    private static let rosterLife: Duration = .seconds(1)

    init(stream: StreamID, secret: [UInt8]) {
        self.stream = stream
        self.secret = secret
    }

    /// Everything that was reported, also by those who have left.
    var traffic: Traffic { members.values.reduce(into: left) { $0.add($1.traffic) } }

    mutating func insert(_ member: Member) {
        members[member.connection] = member
        connections[member.peer] = member.connection
        sessions[member.pseudonym, default: []].insert(member.connection)
        isFrontStale = true
    }

    mutating func remove(_ connection: ConnectionKey) {
        guard let member = members.removeValue(forKey: connection) else { return }
        if connections[member.peer] == connection { connections[member.peer] = nil }
        sessions[member.pseudonym]?.remove(connection)
        if sessions[member.pseudonym]?.isEmpty ?? false { sessions[member.pseudonym] = nil }
        left.add(member.traffic)
        isFrontStale = true
    }

    /// The members behind a credential.
    func sessions(of pseudonym: Bytes16) -> Set<ConnectionKey> { sessions[pseudonym] ?? [] }

    /// Whether looking at every member for each message would cost too much.
    var isLarge: Bool { members.count > Self.neighbourhood }

    /// Those next to a position, in the order of their connections: all members of a small swarm; of a large one half a
    /// neighbourhood of those that others are sent to.
    ///
    /// - Complexity: O(1) in the members of a large swarm, but for ordering them once in ``rosterLife``.
    mutating func neighbours(of position: Duration, now: MonotonicInstant) -> [ConnectionKey] {
        guard isLarge else { return members.keys.sorted() }
        order(now: now)
        var (low, high) = (0, roster.count)
        while low < high {
            let middle = (low + high) / 2
            if roster[middle].position < position { low = middle + 1 } else { high = middle }
        }
        let size = Self.neighbourhood / 2
        let first = max(0, min(low - size / 2, roster.count - size))
        return roster[first..<min(first + size, roster.count)].map(\.connection).sorted()
    }

    /// Those next to a position, and of a large swarm as many drawn from everybody.
    mutating func candidates(
        at position: Duration, now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> [ConnectionKey] {
        let neighbours = neighbours(of: position, now: now)
        guard isLarge else { return neighbours }
        var all = Set(neighbours)
        for _ in 0..<Self.neighbourhood / 2 {
            if let drawn = roster.randomElement(using: &generator) { all.insert(drawn.connection) }
        }
        return all.sorted()
    }

    private mutating func order(now: MonotonicInstant) {
        guard rosterAt + Self.rosterLife <= now else { return }
        rosterAt = now
        roster = members.values.filter(\.isOfferable).map { ($0.position(at: now), $0.connection) }
        roster.sort { ($0.position, $0.connection) < ($1.position, $1.connection) }
    }

    /// Changes what is known of a member, but not who it is.
    mutating func update(_ connection: ConnectionKey, _ change: (inout Member) -> Void) {
        guard var member = members[connection] else { return }
        change(&member)
        members[connection] = member
    }
}
