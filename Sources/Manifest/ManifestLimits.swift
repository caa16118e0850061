/// What one manifest may cost. Each bound is several times what real manifests need, and small enough that reading the
/// worst manifest stays under a second and 64 MiB.
public enum ManifestLimits {
    /// Bytes of a playlist: a day of two-second segments with their parts takes about 8 MB.
    public static let playlistByteCount = 16 << 20
    /// Bytes of an MPD: those of long ad-stitched streams take about 3 MB.
    public static let mpdByteCount = 8 << 20
    /// Segments, parts and tags of a playlist: two days of two-second segments are 86,400.
    public static let playlistEntryCount = 200_000
    /// Elements of an MPD, entries of its segment timelines included.
    public static let elementCount = 100_000
    /// Attributes of one element.
    public static let attributeCount = 64
    /// Nesting of elements; the deepest of the standard is 9.
    public static let elementDepth = 32
    /// Segments of one rendition, all periods together; a day of 100 ms segments are 864,000.
    public static let segmentCount = 1_000_000
    /// Segments of a live rendition that are kept, the newest: eleven hours of two-second segments.
    public static let liveSegmentCount = 20_000
    /// Operations of an MPD patch, and elements that are looked at to find their places.
    public static let patchOperationCount = 20_000
    public static let patchVisitCount = 2_000_000
    /// References of a segment index.
    public static let segmentIndexReferenceCount = 65_535
    /// Renditions of a presentation, and representations of a period.
    public static let renditionCount = 500
    /// Periods, and adaptation sets and representations of all periods together. A day with an advertisement break every
    /// quarter of an hour has about 500 periods and 10,000 representations.
    public static let periodCount = 10_000
    public static let adaptationSetCount = 20_000
    public static let representationCount = 20_000
    /// Renditions times periods.
    public static let pieceCount = 100_000
    /// Bytes of one reference, variables put in and resolved.
    public static let urlByteCount = 64 << 10
    /// Bytes of all resolved references that a manifest's model keeps: a long base makes each of them long.
    public static let urlTotalByteCount = 24 << 20
    /// Spans of equal durations that an MPD's segment timelines come to, those of each representation counted.
    public static let timelineRunCount = 400_000
}
