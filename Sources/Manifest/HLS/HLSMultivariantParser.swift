/// Reads a multivariant playlist.
struct HLSMultivariantParser {
    private var parsing: HLSParsing
    private var playlist: HLSMultivariantPlaylist
    /// EXT-X-STREAM-INF that waits for its URI line.
    private var pending: (line: Int, attributes: HLSAttributeList)?

    init(url: BaseURL) {
        parsing = HLSParsing(url: url, variables: [:])
        playlist = HLSMultivariantPlaylist(url: url)
    }

    mutating func parse(_ lines: inout HLSLines) throws(ManifestError) -> HLSMultivariantPlaylist {
        while let line = lines.next() {
            parsing.line = lines.number
            switch line {
            case .tag(let tag, let value): try take(tag, value)
            case .uri(let uri): try take(uri: uri)
            }
        }
        if pending != nil { parsing.warn("EXT-X-STREAM-INF without a URI is left out") }
        playlist.variables = parsing.variables.values
        playlist.warnings = parsing.warnings
        return playlist
    }

    private mutating func take(_ tag: HLSTag, _ value: ArraySlice<UInt8>) throws(ManifestError) {
        try parsing.countEntry()
        switch tag {
        case .version: playlist.version = parsing.version(value)
        case .independentSegments: playlist.hasIndependentSegments = true
        case .start: playlist.start = try parsing.start(value)
        case .define: playlist.defines.append(try parsing.define(value))
        case .streamInformation:
            if pending != nil { parsing.warn("EXT-X-STREAM-INF without a URI is left out") }
            pending = (parsing.line, try parsing.attributes(tag, value))
        case .media: try takeMedia(value)
        case .iFrameStreamInformation:
            let attributes = try parsing.attributes(tag, value)
            playlist.iFrameVariants.append(
                HLSVariant(
                    line: parsing.line, uri: try parsing.requiredURI(tag, attributes), attributes: attributes))
        case .sessionData: playlist.sessionData.append(try resource(tag, value, reference: "URI"))
        case .sessionKey:
            guard let key = try parsing.key(tag, value) else {
                throw parsing.fault(tag, "METHOD is NONE")
            }
            playlist.sessionKeys.append(key)
        case .contentSteering: playlist.contentSteering = try resource(tag, value, reference: "SERVER-URI")
        case .targetDuration, .mediaSequence, .discontinuitySequence, .endList, .playlistType, .iFramesOnly,
            .partInformation, .serverControl, .segment, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap,
            .bitrate, .part, .dateRange, .skip, .preloadHint, .renditionReport:
            parsing.warn("\(tag.rawValue) does not belong in a multivariant playlist")
        }
    }

    private mutating func take(uri: ArraySlice<UInt8>) throws(ManifestError) {
        guard let (line, attributes) = pending else {
            return parsing.warn("a URI without EXT-X-STREAM-INF is left out")
        }
        pending = nil
        let variant = HLSVariant(line: line, uri: try parsing.resolve(uri), attributes: attributes)
        if variant.bandwidth == nil { parsing.warn("EXT-X-STREAM-INF without BANDWIDTH") }
        playlist.variants.append(variant)
    }

    private mutating func takeMedia(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.media, value)
        for name in ["TYPE", "GROUP-ID"] where attributes[name] == nil {
            return parsing.warn("EXT-X-MEDIA without \(name) is left out")
        }
        playlist.renditions.append(
            HLSRendition(
                line: parsing.line, uri: try parsing.resolve(ifPresent: attributes["URI"]), attributes: attributes))
    }

    private mutating func resource(
        _ tag: HLSTag, _ value: ArraySlice<UInt8>, reference: String
    ) throws(ManifestError) -> HLSResource {
        let attributes = try parsing.attributes(tag, value)
        return HLSResource(uri: try parsing.resolve(ifPresent: attributes[reference]), attributes: attributes)
    }
}
