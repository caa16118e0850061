public import CoreModel

/// A multivariant playlist as it was written, references resolved and variables replaced: RFC 8216bis, section 4.4.6.
public struct HLSMultivariantPlaylist: Sendable {
    /// The URL that references were resolved against.
    public var url: BaseURL
    /// EXT-X-VERSION; `nil` if absent or no number.
    public var version: Int?
    /// Whether EXT-X-INDEPENDENT-SEGMENTS was there.
    public var hasIndependentSegments = false
    /// EXT-X-START.
    public var start: HLSStart?
    /// EXT-X-DEFINE, in order.
    public var defines: [HLSDefine] = []
    /// The values of the variables, for EXT-X-DEFINE:IMPORT of the media playlists.
    public var variables: [String: String] = [:]
    /// EXT-X-STREAM-INF, in order.
    public var variants: [HLSVariant] = []
    /// EXT-X-MEDIA, in order.
    public var renditions: [HLSRendition] = []
    /// EXT-X-I-FRAME-STREAM-INF, in order.
    public var iFrameVariants: [HLSVariant] = []
    /// EXT-X-SESSION-DATA, in order.
    public var sessionData: [HLSResource] = []
    /// EXT-X-SESSION-KEY, in order.
    public var sessionKeys: [HLSKey] = []
    /// EXT-X-CONTENT-STEERING; its URI is SERVER-URI.
    public var contentSteering: HLSResource?
    /// What was passed over.
    public var warnings: [ManifestWarning] = []
}

/// EXT-X-STREAM-INF or EXT-X-I-FRAME-STREAM-INF: RFC 8216bis, sections 4.4.6.2 and 4.4.6.3.
public struct HLSVariant: Hashable, Sendable {
    /// The line of the tag.
    public var line: Int
    /// The media playlist, resolved.
    public var uri: String
    /// The attributes.
    public var attributes: HLSAttributeList

    /// The peak bit rate in bit/s; `nil` if it is missing or no number.
    public var bandwidth: UInt64? { attributes["BANDWIDTH"]?.unsignedNumber }
    /// The mean bit rate in bit/s.
    public var averageBandwidth: UInt64? { attributes["AVERAGE-BANDWIDTH"]?.unsignedNumber }
    /// The formats of its media, as written.
    public var codecs: String? { attributes["CODECS"] }
    /// The greatest frame rate.
    public var frameRate: MediaTime? { attributes["FRAME-RATE"]?.decimalNumber }
    /// Width and height in pixels.
    public var resolution: (width: Int, height: Int)? {
        guard let text = attributes["RESOLUTION"] else { return nil }
        let sides = text.utf8.split(separator: UInt8(ascii: "x"), maxSplits: 1)
        guard sides.count == 2, let width = NumberText.unsigned(sides[0]), let height = NumberText.unsigned(sides[1]),
            width <= 1 << 20, height <= 1 << 20
        else { return nil }
        return (Int(width), Int(height))
    }
}

/// EXT-X-MEDIA: RFC 8216bis, section 4.4.6.1.
public struct HLSRendition: Hashable, Sendable {
    /// The line of the tag.
    public var line: Int
    /// The media playlist, resolved; `nil` if the rendition is in the variants' own media.
    public var uri: String?
    /// The attributes.
    public var attributes: HLSAttributeList

    /// `AUDIO`, `VIDEO`, `SUBTITLES` or `CLOSED-CAPTIONS`.
    public var type: String { attributes["TYPE"] ?? "" }
    /// The group that variants name.
    public var groupID: String { attributes["GROUP-ID"] ?? "" }
    /// The name for people.
    public var name: String { attributes["NAME"] ?? "" }
    /// The language (RFC 5646).
    public var language: String? { attributes["LANGUAGE"] }
    /// Whether to play it unless somebody chose otherwise.
    public var isDefault: Bool { attributes.isYes("DEFAULT") }
    /// Whether it may be chosen without being asked for; a default one may.
    public var isAutoselect: Bool { attributes.isYes("AUTOSELECT") }
    /// Whether it holds content that is to be shown without being asked for.
    public var isForced: Bool { attributes.isYes("FORCED") }
}

/// A tag that is attributes and perhaps a reference.
public struct HLSResource: Hashable, Sendable {
    /// The reference, resolved.
    public var uri: String?
    /// The attributes.
    public var attributes: HLSAttributeList
}
