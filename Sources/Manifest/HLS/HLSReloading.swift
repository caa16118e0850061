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
