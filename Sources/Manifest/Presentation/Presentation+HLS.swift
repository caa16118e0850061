import CoreModel

extension Presentation {
    /// The presentation of a media playlist that was opened on its own: one rendition.
    init(_ playlist: HLSMediaPlaylist) throws(ManifestError) {
        format = .hls
        url = playlist.url.text
        source = .hlsMedia(playlist)
        isLive = !playlist.isEnded
        warnings = playlist.warnings
        renditions = [
            Rendition(id: "main", kind: .muxed, container: .unknown, path: playlist.url.path)
        ]
        variants = [Variant(video: "main", audio: nil, audioOptions: [], textOptions: [], bandwidth: 0)]
        duration = nil
        try place(playlist, into: 0)
    }

    /// The presentation of a multivariant playlist: a rendition for each media playlist that it names.
    init(_ playlist: HLSMultivariantPlaylist) {
        format = .hls
        url = playlist.url.text
        source = .hlsMultivariant(playlist)
        isLive = false
        duration = nil
        warnings = playlist.warnings
        renditions = []
        variants = []
        var builder = HLSRenditionBuilder(playlist)
        builder.build()
        renditions = builder.renditions
        variants = builder.variants
        playlistURLs = builder.playlistURLs
        for warning in builder.warnings { warnings.warn(warning.message, line: warning.line) }
    }

    mutating func loadPlaylist(_ bytes: [UInt8], finalURL: String, into index: Int) throws(ManifestError) {
        var variables: [String: String] = [:]
        if case .hlsMultivariant(let playlist) = source { variables = playlist.variables }
        try place(try HLSMediaPlaylist.parse(bytes, url: finalURL, variables: variables), into: index)
    }

    /// Makes a rendition's timeline of its media playlist, and the presentation's duration of the first.
    private mutating func place(_ playlist: HLSMediaPlaylist, into index: Int) throws(ManifestError) {
        let segments = try HLSSegments(playlist)
        let timeline = Timeline(
            segments: SegmentList(storage: .hls(segments)), isEnded: playlist.isEnded,
            targetDuration: playlist.targetDuration)
        if let encrypted = playlist.segments.first(where: { $0.keySet != nil }) {
            renditions[index].encryption = Encryption(keys: playlist.keys(of: encrypted), mediaSequence: nil)
        }
        if let first = playlist.segments.first {
            renditions[index].container = .init(url: first.uri, hasInitialization: first.map != nil)
        }
        renditions[index].timeline = timeline
        isLive = isLive || !playlist.isEnded
        // Text may go on after the end of what it belongs to.
        let loaded = renditions.filter { $0.timeline != nil }
        let media = loaded.contains { $0.kind != .text } ? loaded.filter { $0.kind != .text } : loaded
        duration = isLive ? nil : media.compactMap { $0.timeline?.end }.max()
        for warning in playlist.warnings {
            warnings.warn("rendition \"\(renditions[index].id)\": \(warning.message)", line: warning.line)
        }
    }
}

extension Rendition.Container {
    /// What the name of a segment suggests. A map means ISO base media unless the name says otherwise; the bytes decide.
    init(url: String, hasInitialization: Bool) {
        let name = BaseURL(url).path.split(separator: "/").last ?? ""
        switch name.split(separator: ".").last.map({ $0.lowercased() }) ?? "" {
        case "ts", "mts", "m2ts": self = .mpegTS
        case "mp4", "m4s", "m4v", "m4a", "cmfv", "cmfa", "cmft", "mp4a", "mp4v": self = .mp4
        case "aac", "ac3", "ec3", "mp3": self = .packedAudio
        case "vtt", "webvtt": self = .webVTT
        case "webm": self = .webM
        default: self = hasInitialization ? .mp4 : .unknown
        }
    }
}
