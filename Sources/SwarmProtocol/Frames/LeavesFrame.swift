public import CoreModel

/// The leaf hashes of one stripe, sent before the stripe's first chunk to who asked for them.
public struct LeavesFrame: Hashable, Sendable {
    /// The segment's root.
    public var root: Digest
    /// The stripe.
    public var stripe: Int
    /// Its leaves: 1 to ``SegmentGeometry/chunksPerStripe``.
    public var leaves: [Digest]

    /// Makes the frame.
    public init(root: Digest, stripe: Int, leaves: [Digest]) {
        self.root = root
        self.stripe = stripe
        self.leaves = leaves
    }
}
