internal import CoreModel

/// The viewers of one stream who derive the swarm from the same secret.
struct Swarm: Sendable {
    let stream: StreamID
    let secret: [UInt8]
    private(set) var members: [ConnectionKey: Member] = [:]
    /// Who is connected where; each peer key is in the swarm once.
    private(set) var connections: [PeerID: ConnectionKey] = [:]
    /// Counts the rounds in which fronts were told, so that the last one told to a viewer is the highest.
    var frontGeneration: UInt64 = 0
    /// Something changed that a front may depend on.
    var isFrontStale = false
    /// When fronts were last told.
    var frontSentAt = MonotonicInstant(nanoseconds: .min / 2)
    /// What members that have left reported.
    private(set) var left = Traffic()

    init(stream: StreamID, secret: [UInt8]) {
        self.stream = stream
        self.secret = secret
    }

    /// Everything that was reported, also by those who have left.
    var traffic: Traffic { members.values.reduce(into: left) { $0.add($1.traffic) } }

    mutating func insert(_ member: Member) {
        members[member.connection] = member
        connections[member.peer] = member.connection
        isFrontStale = true
    }

    mutating func remove(_ connection: ConnectionKey) {
        guard let member = members.removeValue(forKey: connection) else { return }
        if connections[member.peer] == connection { connections[member.peer] = nil }
        left.add(member.traffic)
        isFrontStale = true
    }

    /// Changes what is known of a member, but not who it is.
    mutating func update(_ connection: ConnectionKey, _ change: (inout Member) -> Void) {
        guard var member = members[connection] else { return }
        change(&member)
        members[connection] = member
    }
}
