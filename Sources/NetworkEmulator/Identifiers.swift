/// Names a node of an ``EmulatedNetwork``; small, so that callers can keep what they know of nodes in arrays: numbers begin
/// with 0, a shared link takes one (a site two) of its own, and that of a removed node is given to a later one.
public struct NodeID: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// Names one direction of a connection between two nodes; dense, and given again some time after ``EmulatedNetwork/close(_:)``.
public struct FlowID: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The other direction of the same connection.
    public var opposite: FlowID { FlowID(rawValue: rawValue ^ 1) }
}

/// Names an access link or the network of a site that several nodes share.
public struct SharedLinkID: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// Names a message that was sent, to cancel it; it never names another one, also after the message is gone.
public struct MessageID: Hashable, Sendable, BitwiseCopyable {
    let index: Int32
    let generation: UInt32
}

/// A kind of address translation, as an index into a ``ReachabilityTable``.
public struct NATType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }
}
