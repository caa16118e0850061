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

/// A media segment: RFC 8216bis, section 4.4.4.
public struct HLSSegment: Hashable, Sendable {
    /// The line of its URI.
    public var line: Int
    /// Its media sequence number.
    public var mediaSequence: UInt64
    /// Where it is, resolved.
    public var uri: String
    /// EXTINF's duration; not negative.
    public var duration: MediaTime
    /// EXTINF's title; `nil` if empty.
    public var title: String?
    /// EXT-X-BYTERANGE.
    public var byteRange: HLSByteRange?
    /// Whether EXT-X-DISCONTINUITY stands in front of it.
    public var isDiscontinuous: Bool
    /// Its discontinuity sequence number.
    public var discontinuitySequence: UInt64
    /// EXT-X-PROGRAM-DATE-TIME, where the tag stands.
    public var programDateTime: HLSDate?
    /// The index of its keys among the playlist's key sets.
    public var keySet: Int?
    /// The index of its map among the playlist's.
    public var map: Int?
    /// Whether it is absent on purpose: never to be fetched.
    public var isGap: Bool
    /// EXT-X-BITRATE in kbit/s, which holds until the next.
    public var bitrate: UInt64?
    /// EXT-X-PART in front of its URI.
    public var parts: [HLSPart]
}

/// A partial segment: RFC 8216bis, section 4.4.4.9.
public struct HLSPart: Hashable, Sendable {
    /// Where it is, resolved.
    public var uri: String
    /// Its duration.
    public var duration: MediaTime
    /// Its bytes within the resource.
    public var byteRange: HLSByteRange?
    /// Whether it begins with an independent frame.
    public var isIndependent: Bool
    /// Whether it is absent on purpose.
    public var isGap: Bool
    /// The index of its keys among the playlist's key sets.
    public var keySet: Int?
    /// The index of its map among the playlist's.
    public var map: Int?
}

/// EXT-X-MAP: RFC 8216bis, section 4.4.4.5.
public struct HLSMap: Hashable, Sendable {
    /// Where it is, resolved.
    public var uri: String
    /// Its bytes within the resource.
    public var byteRange: HLSByteRange?
    /// The index of the keys that encrypt it among the playlist's key sets.
    public var keySet: Int?

    /// Makes a map.
    public init(uri: String, byteRange: HLSByteRange? = nil, keySet: Int? = nil) {
        self.uri = uri
        self.byteRange = byteRange
        self.keySet = keySet
    }
}

/// EXT-X-SKIP: RFC 8216bis, section 4.4.5.2.
public struct HLSSkip: Hashable, Sendable {
    /// How many segments were left out.
    public var skippedSegments: UInt64
    /// IDs of date ranges that were removed; `nil` if not given.
    public var recentlyRemovedDateRanges: [String]?
}

/// EXT-X-PRELOAD-HINT: RFC 8216bis, section 4.4.5.3.
public struct HLSPreloadHint: Hashable, Sendable {
    /// `PART` or `MAP`.
    public var type: String
    /// Where it will be, resolved.
    public var uri: String
    /// The first byte, if given.
    public var byteRangeStart: UInt64?
    /// How many bytes, if given; else up to the end.
    public var byteRangeLength: UInt64?
}

/// EXT-X-RENDITION-REPORT: RFC 8216bis, section 4.4.5.4.
public struct HLSRenditionReport: Hashable, Sendable {
    /// The other rendition's playlist, resolved.
    public var uri: String
    /// Its last media sequence number.
    public var lastMediaSequence: UInt64?
    /// Its last part.
    public var lastPart: UInt64?
}
