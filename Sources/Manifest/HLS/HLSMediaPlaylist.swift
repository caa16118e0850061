public import CoreModel

/// A media playlist as it was written, references resolved and variables replaced: RFC 8216bis, section 4.4.3.
public struct HLSMediaPlaylist: Sendable {
    /// The URL that references were resolved against.
    public var url: BaseURL
    /// EXT-X-VERSION; `nil` if absent or no number.
    public var version: Int?
    /// EXT-X-TARGETDURATION in seconds.
    public var targetDuration: MediaTime?
    /// The media sequence number of the first segment, skipped ones counted.
    public var mediaSequence: UInt64 = 0
    /// EXT-X-DISCONTINUITY-SEQUENCE; 0 if absent.
    public var discontinuitySequence: UInt64 = 0
    /// Whether EXT-X-DISCONTINUITY-SEQUENCE was there.
    public var hasDiscontinuitySequence = false
    /// EXT-X-PLAYLIST-TYPE as written.
    public var playlistType: String?
    /// Whether EXT-X-ENDLIST was there.
    public var isEnded = false
    /// Whether EXT-X-I-FRAMES-ONLY was there.
    public var containsOnlyIFrames = false
    /// Whether EXT-X-INDEPENDENT-SEGMENTS was there.
    public var hasIndependentSegments = false
    /// EXT-X-START.
    public var start: HLSStart?
    /// EXT-X-DEFINE, in order.
    public var defines: [HLSDefine] = []
    /// PART-TARGET of EXT-X-PART-INF.
    public var partTarget: MediaTime?
    /// EXT-X-SERVER-CONTROL.
    public var serverControl: HLSAttributeList?
    /// EXT-X-SKIP.
    public var skip: HLSSkip?
    /// The segments.
    public var segments: [HLSSegment] = []
    /// Parts of the segment after the last.
    public var trailingParts: [HLSPart] = []
    /// EXT-X-DATERANGE, in order.
    public var dateRanges: [HLSAttributeList] = []
    /// EXT-X-PRELOAD-HINT, in order.
    public var preloadHints: [HLSPreloadHint] = []
    /// EXT-X-RENDITION-REPORT, in order.
    public var renditionReports: [HLSRenditionReport] = []
    /// The sets of keys in force somewhere; segments and maps name them by index.
    public var keySets: [[HLSKey]] = []
    /// The keys in the order of the text, each once.
    public var keys: [HLSKey] = []
    /// EXT-X-MAP, each different one once; segments name them by index.
    public var maps: [HLSMap] = []
    /// What was passed over.
    public var warnings: [ManifestWarning] = []

    /// The keys in force at `segment`, one a key format; empty if it is clear.
    public func keys(of segment: HLSSegment) -> [HLSKey] { segment.keySet.map { keySets[$0] } ?? [] }

    /// The map of `segment`.
    public func map(of segment: HLSSegment) -> HLSMap? { segment.map.map { maps[$0] } }

    /// Segments that a delta update left out.
    public var skippedSegmentCount: UInt64 { skip?.skippedSegments ?? 0 }

    /// Reads a media playlist.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - url: Where it came from, after redirects.
    ///   - variables: Those of the multivariant playlist, for EXT-X-DEFINE:IMPORT.
    /// - Throws: ``ManifestError`` if the text is no media playlist.
    /// - Complexity: O(*n*) in the bytes.
    public static func parse(
        _ bytes: [UInt8], url: String, variables: [String: String] = [:]
    ) throws(ManifestError) -> HLSMediaPlaylist {
        guard case .media(let playlist) = try HLSPlaylist.parse(bytes, url: url, variables: variables) else {
            throw .hls(
                line: 1, tag: "#EXTM3U", problem: "a multivariant playlist stands where a media playlist is expected",
                section: "4.4.6")
        }
        return playlist
    }
}
