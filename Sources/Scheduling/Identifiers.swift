/// A peer as the driver numbers it within a session.
public struct PeerKey: Hashable, Comparable, Sendable, Codable {
    /// The driver's number.
    public var rawValue: Int

    /// Wraps the driver's number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static func < (left: PeerKey, right: PeerKey) -> Bool { left.rawValue < right.rawValue }
}

/// A request to a peer; the scheduler numbers them, answers carry the number back.
public struct RequestID: Hashable, Comparable, Sendable, Codable {
    /// The scheduler's number.
    public var rawValue: UInt32

    /// Wraps the scheduler's number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: RequestID, right: RequestID) -> Bool { left.rawValue < right.rawValue }
}

/// A transfer from the CDN; the scheduler numbers them, answers carry the number back.
public struct TransferID: Hashable, Comparable, Sendable, Codable {
    /// The scheduler's number.
    public var rawValue: UInt32

    /// Wraps the scheduler's number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
}

/// A member of the swarm as fronts and claims name it: the first eight bytes of its peer identifier.
public struct MemberID: Hashable, Comparable, Sendable, Codable {
    /// The eight bytes as a big-endian number.
    public var rawValue: UInt64

    /// Wraps the number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: MemberID, right: MemberID) -> Bool { left.rawValue < right.rawValue }
}
