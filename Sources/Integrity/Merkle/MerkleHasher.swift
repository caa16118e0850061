public import CoreModel

/// Computes the leaves of a segment whose bytes come in pieces of any size.
///
/// A chunk that lies whole within a piece is hashed where it is; only chunks that cross a border are collected first.
public struct MerkleHasher {
    /// The bytes taken so far.
    public private(set) var byteCount = 0
    private var leaves: [Digest] = []
    private var pending: [UInt8] = []
    private let suite: any CryptoSuite

    /// Starts an empty segment.
    public init(suite: any CryptoSuite) { self.suite = suite }

    /// Takes the next bytes.
    ///
    /// - Returns: false, with nothing taken, when the segment would be larger than can be signed.
    public mutating func update(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= SegmentGeometry.maximumByteCount - byteCount else { return false }
        byteCount += bytes.count
        let size = SegmentGeometry.chunkByteCount
        var rest = bytes
        if !pending.isEmpty {
            let part = rest.prefix(size - pending.count)
            pending.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            guard pending.count == size else { return true }
            leaves.append(suite.sha256(pending.span.bytes))
            pending.removeAll(keepingCapacity: true)
        }
        while rest.count >= size {
            let chunk = rest.prefix(size)
            leaves.append(suite.sha256(chunk.span.bytes))
            rest = rest.dropFirst(size)
        }
        pending.append(contentsOf: rest)
        return true
    }

    /// The tree of what was taken; `nil` for an empty segment, which can't be signed.
    public consuming func finish() -> SegmentTree? {
        guard let geometry = SegmentGeometry(byteCount: byteCount) else { return nil }
        var leaves = leaves
        if !pending.isEmpty { leaves.append(suite.sha256(pending.span.bytes)) }
        let layer = MerkleTree.stripeLayer(leaves, in: geometry, suite: suite)
        return SegmentTree(
            geometry: geometry, root: MerkleTree.root(ofStripeLayer: layer, in: geometry, suite: suite),
            stripeLayer: layer)
    }
}

/// What a publisher keeps of a segment: its size, the root and the layer that proves stripes.
public struct SegmentTree: Hashable, Sendable {
    /// The segment's size, cut into chunks and stripes.
    public let geometry: SegmentGeometry
    /// The root over all chunks.
    public let root: Digest
    /// The hashes over eight chunks each.
    public let stripeLayer: [Digest]

    /// Makes a tree from its parts, which must belong together.
    init(geometry: SegmentGeometry, root: Digest, stripeLayer: [Digest]) {
        self.geometry = geometry
        self.root = root
        self.stripeLayer = stripeLayer
    }

    /// Makes the tree of a layer that was computed earlier; `nil` when size and layer don't fit.
    public init?(byteCount: Int, stripeLayer: [Digest], suite: some CryptoSuite) {
        guard let geometry = SegmentGeometry(byteCount: byteCount), geometry.stripeCount == stripeLayer.count
        else { return nil }
        self.geometry = geometry
        self.root = MerkleTree.root(ofStripeLayer: stripeLayer, in: geometry, suite: suite)
        self.stripeLayer = stripeLayer
    }
}
