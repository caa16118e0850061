import CommandLineSupport
import CoreModel
import Manifest

extension ManifestInspection {
    /// Date ranges that are listed; there may be thousands.
    private static let dateRangeCount = 12

    static func json(_ playlist: HLSMediaPlaylist) -> JSONValue {
        var members = Members()
        members.set("kind", "hls-media")
        members.set("url", .string(playlist.url.text))
        members.set("version", JSONValue(playlist.version))
        members.set("target_duration", JSONValue(playlist.targetDuration))
        members.set("media_sequence", JSONValue(playlist.mediaSequence))
        members.set("discontinuity_sequence", JSONValue(playlist.discontinuitySequence))
        members.set("playlist_type", JSONValue(playlist.playlistType))
        members.set("endlist", .boolean(playlist.isEnded))
        members.set("live", .boolean(!playlist.isEnded))
        members.set("i_frames_only", .boolean(playlist.containsOnlyIFrames))
        members.set("independent_segments", .boolean(playlist.hasIndependentSegments))
        members.set("start", ifPresent: playlist.start.map(json))
        members.set("defines", unlessEmpty: playlist.defines.map { json($0.attributes) })
        addSegments(playlist, &members)
        members.set("keys", .array(playlist.keys.map { json($0, mediaSequence: nil) }))
        members.set("maps", .array(differentMaps(playlist).map(json)))
        members.set("dateranges", unlessEmpty: playlist.dateRanges.prefix(dateRangeCount).map(json))
        if !playlist.dateRanges.isEmpty { members.set("daterange_count", .integer(playlist.dateRanges.count)) }
        addLowLatency(playlist, &members)
        members.set("warnings", unlessEmpty: playlist.warnings.map { .string($0.description) })
        return members.object
    }

    private static func addSegments(_ playlist: HLSMediaPlaylist, _ members: inout Members) {
        let segments = playlist.segments
        func numbers(_ isCounted: (HLSSegment) -> Bool) -> [JSONValue] {
            segments.lazy.filter(isCounted).map { JSONValue($0.mediaSequence) }
        }
        let discontinuities = numbers(\.isDiscontinuous)
        let ends = ends(segments.count)
        members.set("segment_count", .integer(segments.count))
        members.set("total_duration", JSONValue(segments.reduce(MediaTime.zero) { $0 + $1.duration }))
        members.set("first", .array(ends.first.map { json(segments[$0], in: playlist) }))
        members.set("last", .array(ends.last.map { json(segments[$0], in: playlist) }))
        members.set("discontinuity_count", .integer(discontinuities.count))
        members.set("discontinuity_at", .array(discontinuities))
        members.set("gap_at", unlessEmpty: numbers(\.isGap))
        members.set("program_date_time_count", .integer(segments.count { $0.programDateTime != nil }))
        members.set("byterange_count", .integer(segments.count { $0.byteRange != nil }))
    }

    private static func json(_ segment: HLSSegment, in playlist: HLSMediaPlaylist) -> JSONValue {
        var members = Members()
        members.set("n", JSONValue(segment.mediaSequence))
        members.set("uri", .string(segment.uri))
        members.set("duration", JSONValue(segment.duration))
        members.set("title", ifPresent: segment.title.map { .string($0) })
        members.set("byterange", json(segment.byteRange))
        members.set("discontinuity", .boolean(segment.isDiscontinuous))
        members.set("discontinuity_sequence", JSONValue(segment.discontinuitySequence))
        if let date = segment.programDateTime {
            members.set("program_date_time", .string(date.text))
            members.set("program_date_time_ms", JSONValue(date.time.map { Int($0.milliseconds) }))
        }
        members.set(
            "keys", .array(playlist.keys(of: segment).map { json($0, mediaSequence: segment.mediaSequence) }))
        members.set("map", playlist.map(of: segment).map(json) ?? nil)
        if segment.isGap { members.set("gap", true) }
        members.set("bitrate", ifPresent: segment.bitrate.map { JSONValue($0) })
        if !segment.parts.isEmpty { members.set("part_count", .integer(segment.parts.count)) }
        return members.object
    }

    private static func json(_ range: HLSByteRange?) -> JSONValue {
        guard let range else { return nil }
        return ["length": JSONValue(range.length), "offset": JSONValue(range.offset)]
    }

    private static func json(_ map: HLSMap) -> JSONValue {
        ["uri": .string(map.uri), "byterange": json(map.byteRange)]
    }

    /// Maps that differ in what they name; the same under other keys counts once.
    private static func differentMaps(_ playlist: HLSMediaPlaylist) -> [HLSMap] {
        var seen: Set<HLSMap> = []
        return playlist.maps.filter { seen.insert(HLSMap(uri: $0.uri, byteRange: $0.byteRange)).inserted }
    }

    /// A part and the segment that it belongs to.
    private struct PartPlace {
        var mediaSequence: UInt64
        var index: Int
        var part: HLSPart
    }

    private static func addLowLatency(_ playlist: HLSMediaPlaylist, _ members: inout Members) {
        members.set("part_target", ifPresent: playlist.partTarget.map { JSONValue($0) })
        let next =
            playlist.segments.last.map { $0.mediaSequence + 1 }
            ?? (playlist.mediaSequence + playlist.skippedSegmentCount)
        let lists = playlist.segments.map { ($0.mediaSequence, $0.parts) } + [(next, playlist.trailingParts)]
        let parts = lists.flatMap { number, parts in
            parts.enumerated().map { PartPlace(mediaSequence: number, index: $0.offset, part: $0.element) }
        }
        if !parts.isEmpty {
            let ends = ends(parts.count)
            members.set("part_count", .integer(parts.count))
            members.set("first_parts", .array(ends.first.map { json(parts[$0]) }))
            members.set("last_parts", .array(ends.last.map { json(parts[$0]) }))
            members.set("parts_after_last_segment", .integer(playlist.trailingParts.count))
        }
        members.set("server_control", ifPresent: playlist.serverControl.map(numericAttributes))
        members.set(
            "preload_hints",
            unlessEmpty: playlist.preloadHints.map {
                [
                    "type": .string($0.type), "uri": .string($0.uri), "byterange_start": JSONValue($0.byteRangeStart),
                    "byterange_length": JSONValue($0.byteRangeLength),
                ]
            })
        members.set(
            "rendition_reports",
            unlessEmpty: playlist.renditionReports.map {
                [
                    "uri": .string($0.uri), "last_msn": JSONValue($0.lastMediaSequence),
                    "last_part": JSONValue($0.lastPart),
                ]
            })
        members.set(
            "skip",
            ifPresent: playlist.skip.map {
                [
                    "skipped_segments": JSONValue($0.skippedSegments),
                    "recently_removed_dateranges": $0.recentlyRemovedDateRanges.map {
                        .array($0.map { .string($0) })
                    } ?? nil,
                ]
            })
    }

    private static func json(_ place: PartPlace) -> JSONValue {
        [
            "msn": JSONValue(place.mediaSequence), "part": .integer(place.index), "uri": .string(place.part.uri),
            "duration": JSONValue(place.part.duration), "independent": .boolean(place.part.isIndependent),
            "byterange": json(place.part.byteRange), "gap": .boolean(place.part.isGap),
        ]
    }

    /// Attributes as written, numbers as numbers.
    private static func numericAttributes(_ list: HLSAttributeList) -> JSONValue {
        .object(
            list.attributes.map { attribute in
                (name: attribute.name, value: Double(attribute.value).map { .number($0) } ?? .string(attribute.value))
            })
    }
}
