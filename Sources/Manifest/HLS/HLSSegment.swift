public import CoreModel

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
