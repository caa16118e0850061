public import CoreModel

/// A segment's record that an ``AuthorityPolicy`` accepted: the only key to a ``SegmentAssembly``.
public struct VerifiedSegment: Hashable, Sendable {
    /// The record with its layer, as it can be passed on to peers.
    public let signed: SignedSegment

    init(_ signed: SignedSegment) { self.signed = signed }

    /// The segment's name.
    public var name: SegmentName { signed.statement.name }
    /// The segment's length.
    public var duration: MediaTime { signed.statement.duration }
    /// The segment's size, cut into chunks and stripes.
    public var geometry: SegmentGeometry { signed.statement.geometry }
    /// The root of its tree, by which peers exchange its bytes.
    public var root: Digest { signed.statement.root }
    /// The hashes of its stripes.
    public var stripeLayer: [Digest] { signed.stripeLayer }
}
