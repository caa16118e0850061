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

/// A tag that is attributes and perhaps a reference.
public struct HLSResource: Hashable, Sendable {
    /// The reference, resolved.
    public var uri: String?
    /// The attributes.
    public var attributes: HLSAttributeList
}
