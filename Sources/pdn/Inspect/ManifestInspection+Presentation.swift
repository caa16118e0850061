import CommandLineSupport
import CoreModel
import Manifest

extension ManifestInspection {
    /// A presentation and its timelines, as far as they are known.
    static func json(_ presentation: Presentation) -> JSONValue {
        [
            "format": .string(presentation.format.rawValue), "live": .boolean(presentation.isLive),
            "duration": JSONValue(presentation.duration),
            "variants": .array(
                presentation.variants.map {
                    [
                        "video": JSONValue($0.video), "audio": JSONValue($0.audio),
                        "bandwidth": JSONValue($0.bandwidth),
                    ]
                }),
            "renditions": .array(presentation.renditions.map(json)),
        ]
    }

    private static func json(_ rendition: Rendition) -> JSONValue {
        var members = Members()
        members.set("id", .string(rendition.id))
        members.set("kind", .string(rendition.kind.rawValue))
        members.set("container", .string(rendition.container.rawValue))
        members.set("path", .string(rendition.path))
        members.set("encryption", JSONValue(rendition.encryption?.description))
        if let timeline = rendition.timeline {
            let ends = ends(timeline.segments.count)
            members.set("segment_count", .integer(timeline.segments.count))
            members.set("end", JSONValue(timeline.end))
            members.set("first", .array(ends.first.map { json(timeline.segments[$0]) }))
            members.set("last", .array(ends.last.map { json(timeline.segments[$0]) }))
        }
        return members.object
    }

    private static func json(_ segment: SegmentReference) -> JSONValue {
        [
            "section": JSONValue(segment.position.section), "number": JSONValue(segment.position.number),
            "start": JSONValue(segment.start), "duration": JSONValue(segment.duration), "url": .string(segment.url),
            "range": json(inclusive: segment.byteRange), "init": JSONValue(segment.initialization?.url),
            "init_range": json(inclusive: segment.initialization?.byteRange),
            "media_offset": JSONValue(segment.mediaOffset), "gap": .boolean(segment.isGap),
        ]
    }
}
