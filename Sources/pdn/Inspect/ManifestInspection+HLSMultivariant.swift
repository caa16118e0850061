import CommandLineSupport
import CoreModel
import Manifest

extension ManifestInspection {
    static func json(_ playlist: HLSMultivariantPlaylist) -> JSONValue {
        var members = Members()
        members.set("kind", "hls-multivariant")
        members.set("url", .string(playlist.url.text))
        members.set("version", JSONValue(playlist.version))
        members.set("independent_segments", .boolean(playlist.hasIndependentSegments))
        members.set("start", ifPresent: playlist.start.map(json))
        members.set("defines", unlessEmpty: playlist.defines.map { json($0.attributes) })
        members.set("variant_count", .integer(playlist.variants.count))
        members.set("variants", .array(playlist.variants.map(json)))
        members.set("rendition_count", .integer(playlist.renditions.count))
        members.set("renditions", .array(playlist.renditions.map(json)))
        members.set("iframe_variants", unlessEmpty: playlist.iFrameVariants.map(json))
        members.set(
            "session_data",
            unlessEmpty: playlist.sessionData.map { data in
                attributes(data.attributes, leavingOut: ["URI"], then: [("uri", JSONValue(data.uri))])
            })
        members.set("session_keys", unlessEmpty: playlist.sessionKeys.map { json($0, mediaSequence: nil) })
        members.set(
            "content_steering",
            ifPresent: playlist.contentSteering.map { steering in
                attributes(
                    steering.attributes, leavingOut: ["SERVER-URI"], then: [("server_uri", JSONValue(steering.uri))])
            })
        members.set("warnings", unlessEmpty: playlist.warnings.map { .string($0.description) })
        return members.object
    }

    /// Attributes whose values are numbers.
    private static let numbers: Set<String> = [
        "BANDWIDTH", "AVERAGE-BANDWIDTH", "FRAME-RATE", "SCORE", "BIT-DEPTH", "SAMPLE-RATE", "PROGRAM-ID",
    ]

    private static func json(_ variant: HLSVariant) -> JSONValue {
        attributes(variant.attributes, leavingOut: ["URI"], then: [("uri", .string(variant.uri))])
    }

    private static func json(_ rendition: HLSRendition) -> JSONValue {
        attributes(
            rendition.attributes, leavingOut: ["URI", "DEFAULT", "AUTOSELECT", "FORCED"],
            then: [
                ("uri", JSONValue(rendition.uri)), ("default", .boolean(rendition.isDefault)),
                ("autoselect", .boolean(rendition.isAutoselect)), ("forced", .boolean(rendition.isForced)),
            ])
    }

    /// Attributes under their names in lower case with underscores.
    static func attributes(
        _ list: HLSAttributeList, leavingOut omitted: Set<String> = [], then more: [(String, JSONValue)] = []
    ) -> JSONValue {
        var members = Members()
        for attribute in list.attributes where !omitted.contains(attribute.name) {
            let name = String(attribute.name.lowercased().map { $0 == "-" ? "_" : $0 })
            if numbers.contains(attribute.name), let number = Double(attribute.value), number.isFinite {
                members.set(name, UInt64(attribute.value).map { JSONValue($0) } ?? .number(number))
            } else {
                members.set(name, .string(attribute.value))
            }
        }
        for (name, value) in more { members.set(name, value) }
        return members.object
    }

    /// Attributes as written.
    static func json(_ list: HLSAttributeList) -> JSONValue {
        .object(list.attributes.map { (name: $0.name, value: .string($0.value)) })
    }

    static func json(_ start: HLSStart) -> JSONValue {
        ["time_offset": JSONValue(start.timeOffset), "precise": .boolean(start.isPrecise)]
    }

    static func json(_ key: HLSKey, mediaSequence: UInt64?) -> JSONValue {
        var members = Members()
        members.set("method", .string(key.method))
        members.set("uri", JSONValue(key.uri))
        members.set("iv", JSONValue(key.initializationVectorText?.lowercased()))
        members.set("keyformat", .string(key.keyFormat))
        members.set("keyformatversions", ifPresent: key.keyFormatVersions.map { .string($0) })
        if let mediaSequence, let vector = key.effectiveInitializationVector(mediaSequence: mediaSequence) {
            members.set("effective_iv", .string("0x" + Hexadecimal.encode(vector)))
        }
        return members.object
    }
}
