public import CoreModel

/// EXT-X-START: RFC 8216bis, section 4.4.2.2.
public struct HLSStart: Hashable, Sendable {
    /// Seconds from the beginning, or before the end when negative.
    public var timeOffset: MediaTime
    /// Whether what lies before the point in its segment is to be left out.
    public var isPrecise: Bool
}

/// EXT-X-DEFINE: RFC 8216bis, section 4.4.2.3.
public struct HLSDefine: Hashable, Sendable {
    /// The attributes as written.
    public var attributes: HLSAttributeList
}

/// A date as a playlist wrote it.
public struct HLSDate: Hashable, Sendable {
    /// The text.
    public var text: String
    /// What it says; a date without a zone is taken as UTC. `nil` if it is no date.
    public var time: UnixTime?
}
