/// Why a side ends a link, with its number on the wire. An unknown number counts as ``done``.
public enum ByeCode: UInt8, Sendable, CaseIterable {
    /// Nothing is wanted any more.
    case done = 0
    /// A frame that this state does not allow.
    case protocolViolation = 1
    /// A frame that does not spell what it should.
    case malformed = 2
    /// Data, leaves, records or answers that nobody asked for.
    case unsolicited = 3
    /// More frames or requests than the limits allow.
    case flood = 4
    /// A chunk, leaf list or record that is provably bad.
    case badData = 5
    /// Another link to the same peer is kept.
    case duplicate = 6
    /// The table of links is full.
    case full = 7
    /// The certificate does not hold.
    case certificate = 8
    /// Both sides speak a higher version than the one in use.
    case downgrade = 9
    /// Nothing has been heard for too long.
    case silent = 10
    /// Requested chunks were neither sent nor rejected in time.
    case unresponsive = 11
    /// The peer is this one.
    case myself = 12
    /// The peer is banned.
    case banned = 13
    /// The viewer leaves the swarm.
    case leaving = 14
}
