public import CoreModel

/// What a peer has said of one segment.
public struct Holding: Sendable, Equatable, Codable {
    /// Chunks that it has verified.
    public var verified = ChunkSet()
    /// Chunks that it is fetching and will pass on as they verify.
    public var expected = ChunkSet()

    /// Nothing yet.
    public init() {}

    /// Makes a holding from both sets.
    public init(verified: ChunkSet, expected: ChunkSet = ChunkSet()) {
        self.verified = verified
        self.expected = expected
    }

    /// Verified or expected.
    var all: ChunkSet {
        var all = verified
        all.formUnion(expected)
        return all
    }

    /// Whether nothing is held or expected.
    var isEmpty: Bool { verified.isEmpty && expected.isEmpty }

    /// Whether every chunk of the holding is in `chunks`.
    func isWithin(_ chunks: ChunkSet) -> Bool { verified.isSubset(of: chunks) && expected.isSubset(of: chunks) }
}
