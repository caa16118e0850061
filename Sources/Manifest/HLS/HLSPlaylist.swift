/// A playlist of either kind: RFC 8216bis, section 4.
public enum HLSPlaylist: Sendable {
    /// A list of variants and renditions.
    case multivariant(HLSMultivariantPlaylist)
    /// A list of segments.
    case media(HLSMediaPlaylist)

    /// Reads a playlist and tells by its tags which kind it is.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - url: Where it came from, after redirects; references are resolved against it.
    ///   - variables: Those of the multivariant playlist, for EXT-X-DEFINE:IMPORT.
    /// - Throws: ``ManifestError`` if the text is no playlist.
    /// - Complexity: O(*n*) in the bytes.
    public static func parse(
        _ bytes: [UInt8], url: String, variables: [String: String] = [:]
    ) throws(ManifestError) -> HLSPlaylist {
        var lines = try HLSLines(bytes)
        guard try isMultivariant(lines) else {
            var parser = HLSMediaParser(url: BaseURL(url), variables: variables)
            return .media(try parser.parse(&lines))
        }
        var parser = HLSMultivariantParser(url: BaseURL(url))
        return .multivariant(try parser.parse(&lines))
    }

    /// Whether the playlist holds tags of multivariant playlists. One that holds segments too must not be used
    /// (section 4.1); other tags of media playlists in it are passed over, because real ones have them.
    private static func isMultivariant(_ lines: HLSLines) throws(ManifestError) -> Bool {
        var lines = lines
        var firstMultivariantLine: Int?
        var firstSegmentLine: Int?
        var isMedia = false
        while let line = lines.next() {
            guard case .tag(let tag, _) = line else { continue }
            switch tag.scope {
            case .multivariant: firstMultivariantLine = firstMultivariantLine ?? lines.number
            case .media:
                isMedia = true
                if tag == .segment || tag == .part { firstSegmentLine = firstSegmentLine ?? lines.number }
            case .any: break
            }
        }
        if firstMultivariantLine != nil, let firstSegmentLine {
            throw .hls(
                line: firstSegmentLine, tag: "#EXTINF", problem: "segments in a multivariant playlist", section: "4.1")
        }
        guard isMedia || firstMultivariantLine != nil else {
            throw .hls(
                line: 1, tag: "#EXTM3U", problem: "neither segments nor variants: no tag of a playlist follows",
                section: "4.1")
        }
        return firstMultivariantLine != nil
    }
}
