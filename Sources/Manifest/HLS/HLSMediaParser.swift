import CoreModel

/// Reads a media playlist.
struct HLSMediaParser {
    /// What the tags since the last URI line say of the next segment.
    private struct Pending {
        var duration: MediaTime?
        var title: String?
        var byteRange: HLSByteRange?
        var isDiscontinuous = false
        var programDateTime: HLSDate?
        var isGap = false
        var parts: [HLSPart] = []
    }

    /// Where a byte range of a resource ended, for the next one that gives no offset.
    private struct RangeEnd {
        var uri: String
        var offset: UInt64
    }

    /// Key formats in force at once; there are about five.
    private static let keyFormatLimit = 16
    /// How many of the last keys and maps a new one is compared with, so that a playlist costs linear time.
    private static let comparedCount = 64

    private var parsing: HLSParsing
    private var playlist: HLSMediaPlaylist
    private var pending = Pending()
    private var number: UInt64 = 0
    private var discontinuitySequence: UInt64 = 0
    private var bitrate: UInt64?
    /// Keys in force, in the order of the text.
    private var keysInForce: [HLSKey] = []
    private var keySet: Int?
    private var map: Int?
    private var segmentRangeEnd: RangeEnd?
    private var partRangeEnd: RangeEnd?

    init(url: BaseURL, variables: [String: String]) {
        parsing = HLSParsing(url: url, variables: variables)
        playlist = HLSMediaPlaylist(url: url)
    }

    mutating func parse(_ lines: inout HLSLines) throws(ManifestError) -> HLSMediaPlaylist {
        while let line = lines.next() {
            parsing.line = lines.number
            switch line {
            case .tag(let tag, let value): try take(tag, value)
            case .uri(let uri): try take(uri: uri)
            }
        }
        if pending.duration != nil { parsing.warn("EXTINF without a URI is left out") }
        playlist.trailingParts = pending.parts
        if playlist.targetDuration == nil { parsing.warn("EXT-X-TARGETDURATION is missing") }
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
        case .targetDuration: try takeTargetDuration(value)
        case .mediaSequence: try takeMediaSequence(value)
        case .discontinuitySequence:
            playlist.discontinuitySequence = try sequence(tag, value)
            playlist.hasDiscontinuitySequence = true
            discontinuitySequence = playlist.discontinuitySequence
        case .endList: playlist.isEnded = true
        case .playlistType: takePlaylistType(value)
        case .iFramesOnly: playlist.containsOnlyIFrames = true
        case .partInformation: playlist.partTarget = try parsing.attributes(tag, value)["PART-TARGET"]?.decimalNumber
        case .serverControl: playlist.serverControl = try parsing.attributes(tag, value)
        case .segment: try takeInformation(value)
        case .byteRange:
            guard let range = HLSByteRange.parse(value.trimmingBlanks) else {
                throw parsing.fault(tag, "\"\(value.prefix(64).text)\" is no range of 63-bit offsets, or an empty one")
            }
            pending.byteRange = range
        case .discontinuity:
            pending.isDiscontinuous = true
            guard discontinuitySequence < .max else { throw parsing.fault(tag, "the number passes 64 bits") }
            discontinuitySequence += 1
        case .key: try takeKey(value)
        case .map: try takeMap(value)
        case .programDateTime:
            let date = HLSDate(text: value.trimmingBlanks.text, time: DateText.parse(value.text))
            if date.time == nil { parsing.warn("EXT-X-PROGRAM-DATE-TIME is no date") }
            pending.programDateTime = date
        case .gap: pending.isGap = true
        case .bitrate: bitrate = NumberText.unsigned(value.trimmingBlanks)
        case .part: try takePart(value)
        case .dateRange: try takeDateRange(value)
        case .skip: try takeSkip(value)
        case .preloadHint: try takePreloadHint(value)
        case .renditionReport: try takeRenditionReport(value)
        case .media, .streamInformation, .iFrameStreamInformation, .sessionData, .sessionKey, .contentSteering:
            parsing.warn("\(tag.rawValue) does not belong in a media playlist")
        }
    }

    private mutating func take(uri: ArraySlice<UInt8>) throws(ManifestError) {
        try parsing.countEntry()
        defer { pending = Pending() }
        guard let duration = pending.duration else {
            return parsing.warn("a URI without EXTINF is left out")
        }
        let resolved = try parsing.resolve(uri)
        let byteRange = try pending.byteRange.map { range throws(ManifestError) in
            try complete(range, of: resolved, after: &segmentRangeEnd, .byteRange)
        }
        if byteRange == nil { segmentRangeEnd = nil }
        guard number < .max else { throw parsing.fault(.mediaSequence, "the number passes 64 bits") }
        playlist.segments.append(
            HLSSegment(
                line: parsing.line, mediaSequence: number, uri: resolved, duration: duration, title: pending.title,
                byteRange: byteRange, isDiscontinuous: pending.isDiscontinuous,
                discontinuitySequence: discontinuitySequence, programDateTime: pending.programDateTime,
                keySet: try currentKeySet(), map: map, isGap: pending.isGap, bitrate: bitrate, parts: pending.parts))
        number += 1
    }

    /// Gives a range without an offset the end of the range before it, if that was of the same resource.
    private func complete(
        _ range: HLSByteRange, of uri: String, after end: inout RangeEnd?, _ tag: HLSTag
    ) throws(ManifestError) -> HLSByteRange {
        var range = range
        if range.offset == nil, let end, end.uri == uri { range.offset = end.offset }
        if let offset = range.offset {
            let (sum, overflow) = offset.addingReportingOverflow(range.length)
            guard !overflow, sum <= UInt64(Int64.max) else {
                throw parsing.fault(tag, "the range ends beyond 63 bits")
            }
            end = RangeEnd(uri: uri, offset: sum)
        } else {
            end = nil
        }
        return range
    }

    private mutating func takeTargetDuration(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        guard let duration = NumberText.decimal(value.trimmingBlanks), duration >= .zero else {
            throw parsing.fault(.targetDuration, "\"\(value.prefix(64).text)\" is no number of seconds")
        }
        if playlist.targetDuration != nil { parsing.warn("EXT-X-TARGETDURATION occurs twice; the last counts") }
        playlist.targetDuration = duration
    }

    private mutating func takeMediaSequence(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        playlist.mediaSequence = try sequence(.mediaSequence, value)
        if !playlist.segments.isEmpty { parsing.warn("EXT-X-MEDIA-SEQUENCE stands behind a segment") }
        let (sum, overflow) = playlist.mediaSequence.addingReportingOverflow(
            UInt64(playlist.segments.count) + playlist.skippedSegmentCount)
        guard !overflow else { throw parsing.fault(.mediaSequence, "the number passes 64 bits") }
        number = sum
    }

    private func sequence(_ tag: HLSTag, _ value: ArraySlice<UInt8>) throws(ManifestError) -> UInt64 {
        guard let number = NumberText.unsigned(value.trimmingBlanks) else {
            throw parsing.fault(tag, "\"\(value.prefix(64).text)\" is no number from 0 to 2^64 - 1")
        }
        return number
    }

    private mutating func takePlaylistType(_ value: ArraySlice<UInt8>) {
        let type = value.trimmingBlanks.text
        if type != "VOD", type != "EVENT" { parsing.warn("EXT-X-PLAYLIST-TYPE is neither VOD nor EVENT") }
        playlist.playlistType = type
    }

    /// EXTINF: the duration is what stands before the first comma or the end.
    private mutating func takeInformation(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let comma = value.firstIndex(of: ASCII.comma) ?? value.endIndex
        let text = value[..<comma].trimmingBlanks
        guard let duration = NumberText.decimal(text), duration >= .zero else {
            throw parsing.fault(.segment, "\"\(text.prefix(64).text)\" is no duration in seconds")
        }
        // What real players take for a title; more is the sign of a unit mix-up and would run time out of its range.
        guard duration.seconds < 1e10 else { throw parsing.fault(.segment, "a segment of more than 300 years") }
        pending.duration = duration
        let title = value[comma...].dropFirst().trimmingBlanks
        pending.title = title.isEmpty ? nil : title.text
    }

    private mutating func takeKey(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        if let key = try parsing.key(.key, value) {
            // A key holds until the next of the same format (section 4.4.4.4).
            keysInForce.removeAll { $0.keyFormat == key.keyFormat }
            keysInForce.append(key)
            guard keysInForce.count <= Self.keyFormatLimit else {
                throw .tooLarge(what: "key formats at once", limit: Self.keyFormatLimit)
            }
            if !playlist.keys.suffix(Self.comparedCount).contains(key) { playlist.keys.append(key) }
        } else {
            keysInForce = []
        }
        keySet = nil
    }

    /// The index of the keys in force; the set is stored when first needed.
    private mutating func currentKeySet() throws(ManifestError) -> Int? {
        if keysInForce.isEmpty { return nil }
        if let keySet { return keySet }
        if playlist.keySets.last != keysInForce {
            try parsing.countEntries(keysInForce.count)
            playlist.keySets.append(keysInForce)
        }
        keySet = playlist.keySets.count - 1
        return keySet
    }

    private mutating func takeMap(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.map, value)
        var range: HLSByteRange?
        if let text = attributes["BYTERANGE"] {
            guard var parsed = HLSByteRange.parse(text.utf8) else {
                throw parsing.fault(.map, "BYTERANGE is no range of 63-bit offsets, or an empty one")
            }
            // The offset must be there; 0 is what other players take (section 4.4.4.5).
            if parsed.offset == nil { parsing.warn("EXT-X-MAP with a range without an offset; 0 is taken") }
            parsed.offset = parsed.offset ?? 0
            range = parsed
        }
        let new = HLSMap(
            uri: try parsing.requiredURI(.map, attributes), byteRange: range, keySet: try currentKeySet())
        if let known = playlist.maps.suffix(Self.comparedCount).lastIndex(of: new) {
            map = known
        } else {
            playlist.maps.append(new)
            map = playlist.maps.count - 1
        }
    }

    private mutating func takePart(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.part, value)
        guard let duration = attributes["DURATION"]?.decimalNumber, duration >= .zero else {
            throw parsing.fault(.part, "DURATION is missing or no number of seconds")
        }
        let uri = try parsing.requiredURI(.part, attributes)
        var range: HLSByteRange?
        if let text = attributes["BYTERANGE"] {
            guard let parsed = HLSByteRange.parse(text.utf8) else {
                throw parsing.fault(.part, "BYTERANGE is no range of 63-bit offsets, or an empty one")
            }
            range = try complete(parsed, of: uri, after: &partRangeEnd, .part)
        }
        pending.parts.append(
            HLSPart(
                uri: uri, duration: duration, byteRange: range, isIndependent: attributes.isYes("INDEPENDENT"),
                isGap: attributes.isYes("GAP"), keySet: try currentKeySet(), map: map))
    }

    private mutating func takeDateRange(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.dateRange, value)
        guard attributes["ID"] != nil else { return parsing.warn("EXT-X-DATERANGE without ID is left out") }
        playlist.dateRanges.append(attributes)
    }

    private mutating func takeSkip(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.skip, value)
        guard let count = attributes["SKIPPED-SEGMENTS"]?.unsignedNumber,
            count <= UInt64(ManifestLimits.playlistEntryCount)
        else { throw parsing.fault(.skip, "SKIPPED-SEGMENTS is missing or no such number") }
        guard playlist.skip == nil, playlist.segments.isEmpty else {
            throw parsing.fault(.skip, "stands behind a segment or occurs twice")
        }
        let removed = attributes["RECENTLY-REMOVED-DATERANGES"]
        playlist.skip = HLSSkip(
            skippedSegments: count,
            recentlyRemovedDateRanges: removed.map { $0.split(separator: "\t").map(String.init) })
        let (sum, overflow) = number.addingReportingOverflow(count)
        guard !overflow else { throw parsing.fault(.skip, "the media sequence number passes 64 bits") }
        number = sum
    }

    private mutating func takePreloadHint(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.preloadHint, value)
        guard let type = attributes["TYPE"], attributes["URI"] != nil else {
            return parsing.warn("EXT-X-PRELOAD-HINT without TYPE or URI is left out")
        }
        playlist.preloadHints.append(
            HLSPreloadHint(
                type: type, uri: try parsing.requiredURI(.preloadHint, attributes),
                byteRangeStart: attributes["BYTERANGE-START"]?.unsignedNumber,
                byteRangeLength: attributes["BYTERANGE-LENGTH"]?.unsignedNumber))
    }

    private mutating func takeRenditionReport(_ value: ArraySlice<UInt8>) throws(ManifestError) {
        let attributes = try parsing.attributes(.renditionReport, value)
        guard attributes["URI"] != nil else {
            return parsing.warn("EXT-X-RENDITION-REPORT without URI is left out")
        }
        playlist.renditionReports.append(
            HLSRenditionReport(
                uri: try parsing.requiredURI(.renditionReport, attributes),
                lastMediaSequence: attributes["LAST-MSN"]?.unsignedNumber,
                lastPart: attributes["LAST-PART"]?.unsignedNumber))
    }
}
