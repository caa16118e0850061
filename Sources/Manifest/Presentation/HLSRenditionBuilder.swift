import CoreModel

/// Makes renditions and variants of a multivariant playlist.
struct HLSRenditionBuilder {
    private let playlist: HLSMultivariantPlaylist
    private(set) var renditions: [Rendition] = []
    private(set) var variants: [Variant] = []
    private(set) var playlistURLs: [Rendition.ID: String] = [:]
    private(set) var warnings: [ManifestWarning] = []
    private var idsByURL: [String: Rendition.ID] = [:]

    init(_ playlist: HLSMultivariantPlaylist) { self.playlist = playlist }

    /// The renditions of one group.
    private struct Group {
        var ids: [Rendition.ID] = []
        /// The default member, else the first; `nil` inside if it is in the variant's own media.
        var preferred: Rendition.ID??
        var hasDefault = false
        /// Whether a member has no URI: it is in the variant's own media (section 4.4.6.2.1).
        var hasOwnMember = false

        mutating func append(_ id: Rendition.ID?, isDefault: Bool) {
            if let id { ids.append(id) } else { hasOwnMember = true }
            if preferred == nil || isDefault && !hasDefault { preferred = .some(id) }
            hasDefault = hasDefault || isDefault
        }
    }

    mutating func build() {
        var audio: [String: Group] = [:]
        var text: [String: Group] = [:]
        for media in playlist.renditions {
            switch media.type {
            case "AUDIO":
                audio[media.groupID, default: Group()].append(add(media, kind: .audio), isDefault: media.isDefault)
            case "SUBTITLES":
                text[media.groupID, default: Group()].append(add(media, kind: .text), isDefault: media.isDefault)
            case "VIDEO": _ = add(media, kind: .video)
            default: break
            }
        }
        for variant in playlist.variants.prefix(ManifestLimits.renditionCount) {
            let group = variant.attributes["AUDIO"].flatMap { audio[$0] }
            let kind = Self.kind(
                codecs: variant.codecs, holdsAudio: group?.hasOwnMember ?? true, hasVideo: variant.resolution != nil)
            guard let id = add(variant, kind: kind) else { continue }
            let options = group?.ids ?? []
            let isAudioOnly = kind == .audio
            variants.append(
                Variant(
                    video: isAudioOnly ? nil : id,
                    audio: isAudioOnly ? options.first ?? id : group?.preferred ?? nil,
                    audioOptions: isAudioOnly && options.isEmpty ? [id] : options,
                    textOptions: variant.attributes["SUBTITLES"].flatMap { text[$0]?.ids } ?? [],
                    bandwidth: variant.bandwidth ?? 0))
        }
    }

    private mutating func add(_ variant: HLSVariant, kind: Rendition.Kind) -> Rendition.ID? {
        // Variants that differ in their groups only share one media playlist: it is one rendition.
        if let known = idsByURL[variant.uri] { return known }
        var name = variant.resolution.map { "\($0.height)p" } ?? kind.rawValue
        if let bandwidth = variant.bandwidth { name += "-\(bandwidth)" }
        let audioGroup = variant.attributes["AUDIO"]
        var rendition = Rendition(
            id: name, kind: kind, container: .unknown, path: BaseURL(variant.uri).path)
        rendition.bandwidth = variant.bandwidth
        rendition.averageBandwidth = variant.averageBandwidth
        rendition.codecs = kind == .video && audioGroup != nil ? Self.videoCodecs(variant.codecs) : variant.codecs
        rendition.width = variant.resolution?.width
        rendition.height = variant.resolution?.height
        rendition.frameRate = variant.frameRate?.seconds
        rendition.label = variant.attributes["NAME"]
        return add(rendition, url: variant.uri, line: variant.line)
    }

    private mutating func add(_ media: HLSRendition, kind: Rendition.Kind) -> Rendition.ID? {
        guard let url = media.uri else { return nil }
        if let known = idsByURL[url] { return known }
        var rendition = Rendition(
            id: [kind.rawValue, media.groupID, media.language ?? media.name].joined(separator: "-"), kind: kind,
            container: .unknown, path: BaseURL(url).path)
        rendition.language = media.language
        rendition.label = media.name
        rendition.channels = media.attributes["CHANNELS"]
        rendition.roles = (media.attributes["CHARACTERISTICS"] ?? "").split(separator: ",").map(String.init)
        rendition.group = media.groupID
        rendition.isDefault = media.isDefault
        return add(rendition, url: url, line: media.line)
    }

    private mutating func add(_ rendition: Rendition, url: String, line: Int) -> Rendition.ID? {
        guard renditions.count < ManifestLimits.renditionCount else {
            warnings.warn("more than \(ManifestLimits.renditionCount) renditions; the rest is left out", line: line)
            return nil
        }
        var rendition = rendition
        var suffix = 1
        let name = rendition.id
        while playlistURLs[rendition.id] != nil {
            suffix += 1
            rendition.id = "\(name)#\(suffix)"
        }
        playlistURLs[rendition.id] = url
        idsByURL[url] = rendition.id
        renditions.append(rendition)
        return rendition.id
    }

    /// What a variant's own media hold.
    private static func kind(codecs: String?, holdsAudio: Bool, hasVideo: Bool) -> Rendition.Kind {
        guard let codecs, !codecs.isEmpty else { return holdsAudio ? .muxed : .video }
        let kinds = codecs.split(separator: ",").compactMap { CodecKind($0) }
        if kinds.contains(.video) || hasVideo { return holdsAudio && kinds.contains(.audio) ? .muxed : .video }
        return kinds.contains(.audio) ? .audio : holdsAudio ? .muxed : .video
    }

    private static func videoCodecs(_ codecs: String?) -> String? {
        guard let codecs else { return nil }
        let video = codecs.split(separator: ",").filter { CodecKind($0) != .audio && CodecKind($0) != .text }
        return video.isEmpty ? codecs : video.map { String($0).trimmed }.joined(separator: ",")
    }
}
