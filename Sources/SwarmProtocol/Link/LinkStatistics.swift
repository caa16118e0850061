/// What a link has moved so far.
public struct LinkStatistics: Hashable, Sendable {
    /// Bytes received, handshake and framing included.
    public var receivedByteCount: UInt64 = 0
    /// Bytes handed out for sending, handshake and framing included.
    public var sentByteCount: UInt64 = 0
    /// Bytes of chunks received.
    public var receivedPayloadByteCount: UInt64 = 0
    /// Bytes of chunks handed out for sending.
    public var sentPayloadByteCount: UInt64 = 0
    /// Messages received that hold no chunk; each is one or more control frames.
    public var receivedControlCount: UInt64 = 0
    /// Messages handed out for sending that hold no chunk.
    public var sentControlCount: UInt64 = 0

    /// Starts at nothing.
    public init() {}

    /// Adds what another link has moved.
    public static func += (left: inout LinkStatistics, right: LinkStatistics) {
        left.receivedByteCount += right.receivedByteCount
        left.sentByteCount += right.sentByteCount
        left.receivedPayloadByteCount += right.receivedPayloadByteCount
        left.sentPayloadByteCount += right.sentPayloadByteCount
        left.receivedControlCount += right.receivedControlCount
        left.sentControlCount += right.sentControlCount
    }
}
