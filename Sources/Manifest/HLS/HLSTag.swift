/// The tags of RFC 8216bis, section 4.4, with the section that defines each.
enum HLSTag: String, CaseIterable {
    case version = "EXT-X-VERSION"
    case independentSegments = "EXT-X-INDEPENDENT-SEGMENTS"
    case start = "EXT-X-START"
    case define = "EXT-X-DEFINE"
    case targetDuration = "EXT-X-TARGETDURATION"
    case mediaSequence = "EXT-X-MEDIA-SEQUENCE"
    case discontinuitySequence = "EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "EXT-X-ENDLIST"
    case playlistType = "EXT-X-PLAYLIST-TYPE"
    case iFramesOnly = "EXT-X-I-FRAMES-ONLY"
    case partInformation = "EXT-X-PART-INF"
    case serverControl = "EXT-X-SERVER-CONTROL"
    case segment = "EXTINF"
    case byteRange = "EXT-X-BYTERANGE"
    case discontinuity = "EXT-X-DISCONTINUITY"
    case key = "EXT-X-KEY"
    case map = "EXT-X-MAP"
    case programDateTime = "EXT-X-PROGRAM-DATE-TIME"
    case gap = "EXT-X-GAP"
    case bitrate = "EXT-X-BITRATE"
    case part = "EXT-X-PART"
    case dateRange = "EXT-X-DATERANGE"
    case skip = "EXT-X-SKIP"
    case preloadHint = "EXT-X-PRELOAD-HINT"
    case renditionReport = "EXT-X-RENDITION-REPORT"
    case media = "EXT-X-MEDIA"
    case streamInformation = "EXT-X-STREAM-INF"
    case iFrameStreamInformation = "EXT-X-I-FRAME-STREAM-INF"
    case sessionData = "EXT-X-SESSION-DATA"
    case sessionKey = "EXT-X-SESSION-KEY"
    case contentSteering = "EXT-X-CONTENT-STEERING"

    /// Which playlists a tag belongs in.
    enum Scope { case any, media, multivariant }

    /// The section that defines it.
    var section: String {
        switch self {
        case .version: "4.4.1.2"
        case .independentSegments: "4.4.2.1"
        case .start: "4.4.2.2"
        case .define: "4.4.2.3"
        case .targetDuration: "4.4.3.1"
        case .mediaSequence: "4.4.3.2"
        case .discontinuitySequence: "4.4.3.3"
        case .endList: "4.4.3.4"
        case .playlistType: "4.4.3.5"
        case .iFramesOnly: "4.4.3.6"
        case .partInformation: "4.4.3.7"
        case .serverControl: "4.4.3.8"
        case .segment: "4.4.4.1"
        case .byteRange: "4.4.4.2"
        case .discontinuity: "4.4.4.3"
        case .key: "4.4.4.4"
        case .map: "4.4.4.5"
        case .programDateTime: "4.4.4.6"
        case .gap: "4.4.4.7"
        case .bitrate: "4.4.4.8"
        case .part: "4.4.4.9"
        case .dateRange: "4.4.5.1"
        case .skip: "4.4.5.2"
        case .preloadHint: "4.4.5.3"
        case .renditionReport: "4.4.5.4"
        case .media: "4.4.6.1"
        case .streamInformation: "4.4.6.2"
        case .iFrameStreamInformation: "4.4.6.3"
        case .sessionData: "4.4.6.4"
        case .sessionKey: "4.4.6.5"
        case .contentSteering: "4.4.6.6"
        }
    }

    /// Where it may stand.
    var scope: Scope {
        switch self {
        case .version, .independentSegments, .start, .define: .any
        case .media, .streamInformation, .iFrameStreamInformation, .sessionData, .sessionKey, .contentSteering:
            .multivariant
        case .targetDuration, .mediaSequence, .discontinuitySequence, .endList, .playlistType, .iFramesOnly,
            .partInformation, .serverControl, .segment, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap,
            .bitrate, .part, .dateRange, .skip, .preloadHint, .renditionReport:
            .media
        }
    }

    /// Tags by their name's bytes, so that a line costs one look-up.
    static let byName: [ArraySlice<UInt8>: HLSTag] = Dictionary(
        uniqueKeysWithValues: allCases.map { (Array($0.rawValue.utf8)[...], $0) })
}
