public import CoreModel

/// What a peer says that it holds of one segment.
public struct HaveEntry: Hashable, Sendable {
    /// How the entry changes what was said before.
    public enum Change: Hashable, Sendable {
        /// Nothing is held any more.
        case lost
        /// Every chunk is held.
        case complete
        /// This replaces what was said before.
        case replace(verified: [Range<Int>], expected: [Range<Int>])
        /// This is added; chunks that become verified are no longer expected.
        case add(verified: [Range<Int>], expected: [Range<Int>])
    }

    /// The segment's root.
    public var root: Digest
    /// The change.
    public var change: Change

    /// Makes the entry.
    public init(root: Digest, change: Change) {
        self.root = root
        self.change = change
    }

    /// Bytes on the wire.
    var byteCount: Int {
        switch change {
        case .lost, .complete: 33
        case .replace(let verified, let expected), .add(let verified, let expected):
            35 + 4 * (verified.count + expected.count)
        }
    }
}
