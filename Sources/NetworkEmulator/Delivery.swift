public import CoreModel

/// What became of a message, or of a part of it.
public struct Delivery: Hashable, Sendable {
    /// The news.
    public enum Outcome: UInt8, Hashable, Sendable, BitwiseCopyable {
        /// All of it has arrived; `byteCount` is what arrived since the last `progress` of it.
        case complete
        /// A part has arrived, of a message that was sent with `reportingProgress`.
        case progress
        /// It will not arrive: its connection was closed, or a node left.
        case dropped
        /// No more than a frame waits at the source of the flow: what
        /// ``EmulatedNetwork/reportRoom(on:)`` asked for. The payload and the byte count are 0.
        case room
    }

    /// What the sender gave with it.
    public var payload: UInt64
    /// When it arrived.
    public var time: MonotonicInstant
    /// The direction it was sent on.
    public var flow: FlowID
    /// Who sent it.
    public var source: NodeID
    /// Who got it.
    public var target: NodeID
    /// Bytes that arrived, or were dropped, with this piece of news.
    public var byteCount: Int32
    /// The news.
    public var outcome: Outcome
}
