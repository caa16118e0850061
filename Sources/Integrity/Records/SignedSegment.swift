public import CoreModel

/// A record with the tree layer that proves single stripes: what travels in catalogues and between peers.
///
/// Decoding checks the form only; ``AuthorityPolicy/verify(_:now:suite:)`` checks signatures, times and the layer.
public struct SignedSegment: Hashable, Sendable {
    /// The signed statement.
    public let record: SegmentRecord
    /// The hashes of the stripes, as many as the segment has.
    public let stripeLayer: [Digest]

    /// The most bytes that an encoding takes: eight signatures and 512 stripes.
    public static let maximumByteCount =
        RecordStatement.encodedByteCount + 1
        + SegmentRecord.maximumSignatureCount * RecordSignature.encodedByteCount
        + SegmentGeometry.maximumByteCount / SegmentGeometry.stripeByteCount * 32

    /// Joins a record with its layer; `nil` when the count of hashes is wrong.
    public init?(record: SegmentRecord, stripeLayer: [Digest]) {
        guard stripeLayer.count == record.statement.geometry.stripeCount else { return nil }
        self.record = record
        self.stripeLayer = stripeLayer
    }

    /// Signs a segment's tree.
    ///
    /// - Precondition: `key` is an authority's.
    public init(
        name: SegmentName, duration: MediaTime, tree: SegmentTree, key: RoleKey, issued: UnixTime, expires: UnixTime
    ) {
        let statement = RecordStatement(name: name, duration: duration, geometry: tree.geometry, root: tree.root)
        record = SegmentRecord(signing: statement, with: key, issued: issued, expires: expires)
        stripeLayer = tree.stripeLayer
    }

    /// What is signed.
    public var statement: RecordStatement { record.statement }

    /// The segment's name.
    public var name: SegmentName { record.statement.name }

    /// Whether the layer belongs to the statement's root.
    public func hasMatchingLayer(suite: some CryptoSuite) -> Bool {
        MerkleTree.root(ofStripeLayer: stripeLayer, in: statement.geometry, suite: suite) == statement.root
    }

    /// The bytes that are sent. The layer of a segment with one stripe is its root and is left out.
    public var encoded: [UInt8] {
        var writer = WireWriter(
            capacity: RecordStatement.encodedByteCount + 1
                + record.signatures.count * RecordSignature.encodedByteCount + stripeLayer.count * 32)
        encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout WireWriter) {
        record.encode(into: &writer)
        if stripeLayer.count > 1 { for hash in stripeLayer { writer.append(hash) } }
    }

    /// Reads the next segment; the encoding says its own length.
    public init(from reader: inout WireReader) throws(WireError) {
        record = try SegmentRecord(from: &reader)
        let count = record.statement.geometry.stripeCount
        guard count > 1 else {
            stripeLayer = [record.statement.root]
            return
        }
        guard reader.remaining >= count * 32 else {
            throw .truncated(needed: count * 32, available: reader.remaining)
        }
        var layer: [Digest] = []
        layer.reserveCapacity(count)
        for _ in 0..<count { layer.append(try reader.digest()) }
        stripeLayer = layer
    }

    /// Reads a segment from exactly these bytes.
    public init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}
