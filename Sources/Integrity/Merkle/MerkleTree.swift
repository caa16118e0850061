public import CoreModel

/// The hash tree over a segment's chunks: exactly the tree that BEP 52 has over a file's blocks.
///
/// The leaves are the SHA-256 digests of the chunks, the last one of what is left; missing leaves up to a power of two are
/// 32 zero bytes; a node is the digest of its two children side by side. The **stripe layer** is the row of nodes that
/// stand over eight leaves each, without the padding at its end; a segment of at most eight chunks has one stripe, whose
/// hash is the root.
public enum MerkleTree {
    /// The leaf of one chunk.
    public static func leaf(_ chunk: RawSpan, suite: some CryptoSuite) -> Digest { suite.sha256(chunk) }

    /// The hash of the stripe that `leaves` fill.
    ///
    /// - Parameters:
    ///   - leaves: The stripe's leaves in order, 1 to 8 of them.
    ///   - geometry: The segment's, because the only stripe of a small segment is padded to a smaller power of two.
    public static func stripeHash(
        _ leaves: some Collection<Digest>, in geometry: SegmentGeometry, suite: some CryptoSuite
    ) -> Digest {
        let width = geometry.stripeCount == 1 ? powerOfTwo(atLeast: leaves.count) : SegmentGeometry.chunksPerStripe
        return root(Array(leaves), width: width, padding: .zero, suite: suite)
    }

    /// The stripe layer over all leaves of a segment.
    ///
    /// - Precondition: there are as many leaves as the segment has chunks.
    public static func stripeLayer(
        _ leaves: [Digest], in geometry: SegmentGeometry, suite: some CryptoSuite
    ) -> [Digest] {
        precondition(leaves.count == geometry.chunkCount, "\(leaves.count) leaves for \(geometry.chunkCount) chunks")
        return (0..<geometry.stripeCount).map { stripe in
            stripeHash(leaves[geometry.chunkRange(ofStripe: stripe)], in: geometry, suite: suite)
        }
    }

    /// The root over a stripe layer.
    ///
    /// - Precondition: the layer has as many hashes as the segment has stripes.
    /// - Complexity: O(*n*) in the stripes.
    public static func root(
        ofStripeLayer layer: [Digest], in geometry: SegmentGeometry, suite: some CryptoSuite
    ) -> Digest {
        precondition(layer.count == geometry.stripeCount, "\(layer.count) hashes for \(geometry.stripeCount) stripes")
        guard layer.count > 1 else { return layer[0] }
        // A stripe of padding: eight zero leaves.
        var padding = Digest.zero
        for _ in 0..<3 { padding = suite.sha256(pair: padding, padding) }
        return root(layer, width: powerOfTwo(atLeast: layer.count), padding: padding, suite: suite)
    }

    /// The root over all leaves of a segment.
    public static func root(_ leaves: [Digest], in geometry: SegmentGeometry, suite: some CryptoSuite) -> Digest {
        root(ofStripeLayer: stripeLayer(leaves, in: geometry, suite: suite), in: geometry, suite: suite)
    }

    /// The root over `row`, padded at its end to `width` nodes that are each `padding`.
    private static func root(
        _ row: [Digest], width: Int, padding: Digest, suite: some CryptoSuite
    ) -> Digest {
        var row = row
        var width = width
        var padding = padding
        while width > 1 {
            // Only the node beside the border mixes real nodes with padding; whole padded subtrees are never computed.
            if row.count % 2 == 1 { row.append(padding) }
            for index in 0..<row.count / 2 {
                row[index] = suite.sha256(pair: row[2 * index], row[2 * index + 1])
            }
            row.removeLast(row.count / 2)
            width /= 2
            if width > row.count { padding = suite.sha256(pair: padding, padding) }
        }
        return row[0]
    }

    private static func powerOfTwo(atLeast count: Int) -> Int {
        count <= 1 ? 1 : 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
    }
}
