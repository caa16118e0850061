/// The segment index of an ISO base media file (`sidx`): ISO/IEC 14496-12, section 8.16.3.
public struct SegmentIndex: Hashable, Sendable {
    /// A subsegment.
    public struct Reference: Hashable, Sendable {
        /// Its presentation time in ticks.
        public var time: UInt64
        /// Its duration in ticks.
        public var duration: UInt64
        /// Its bytes within the media resource.
        public var byteRange: Range<UInt64>
        /// Whether it begins with a stream access point.
        public var startsWithSAP: Bool
    }

    /// Ticks a second.
    public var timescale: Int64
    /// The subsegments, in order.
    public var references: [Reference]

    /// Reads an index, and the indexes that it refers to where they are in `bytes` too.
    ///
    /// Boxes in front of the first index are passed over. An index that refers to another one outside of `bytes` is
    /// refused.
    ///
    /// - Parameters:
    ///   - bytes: The resource from `offset` on.
    ///   - offset: Where `bytes` begin in the media resource; `nil` if the index is a resource of its own, so that its
    ///     references count from the beginning of the media resource.
    /// - Throws: ``ManifestError/segmentIndex(byteOffset:problem:)``.
    /// - Complexity: O(*n*) in the references.
    public static func parse(_ bytes: [UInt8], at offset: UInt64?) throws(ManifestError) -> SegmentIndex {
        var parser = SegmentIndexParser(bytes, offset: offset)
        return try parser.parse()
    }
}
