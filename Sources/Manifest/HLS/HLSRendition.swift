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
