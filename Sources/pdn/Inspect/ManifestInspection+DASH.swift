import CommandLineSupport
import CoreModel
import Manifest

extension ManifestInspection {
    /// Events of a stream that are listed.
    private static let eventCount = 3

    static func json(_ manifest: DASHManifest) throws(ManifestError) -> JSONValue {
        var members = Members()
        members.set("kind", "dash")
        members.set("url", .string(manifest.url.text))
        members.set("id", ifPresent: manifest.id.map { .string($0) })
        members.set("type", manifest.isDynamic ? "dynamic" : "static")
        members.set("profiles", JSONValue(manifest.profiles))
        members.set("media_presentation_duration", JSONValue(manifest.mediaPresentationDuration))
        let durations: [(String, MediaTime?)] = [
            ("min_buffer_time", manifest.minimumBufferTime), ("minimum_update_period", manifest.minimumUpdatePeriod),
            ("time_shift_buffer_depth", manifest.timeShiftBufferDepth),
            ("suggested_presentation_delay", manifest.suggestedPresentationDelay),
            ("max_segment_duration", manifest.maximumSegmentDuration),
        ]
        for (name, duration) in durations { members.set(name, ifPresent: duration.map { JSONValue($0) }) }
        let dates = [
            ("availability_start_time", manifest.availabilityStartTime), ("publish_time", manifest.publishTime),
        ]
        for (name, date) in dates {
            guard let date else { continue }
            members.set(name, .string(date.text))
            members.set(name + "_ms", JSONValue(date.time.map { Int($0.milliseconds) }))
        }
        members.set("locations", unlessEmpty: manifest.locations.map { .string($0) })
        members.set(
            "patch_locations",
            unlessEmpty: manifest.patchLocations.map {
                ["url": .string($0.url), "ttl": JSONValue($0.timeToLive)]
            })
        members.set("utc_timing", unlessEmpty: clocks(manifest).map(json))
        members.set("service_descriptions", unlessEmpty: manifest.serviceDescriptions.map(json))
        members.set(
            "total_duration",
            JSONValue(manifest.isDynamic ? manifest.mediaPresentationDuration : manifest.totalDuration))
        members.set("period_count", .integer(manifest.periods.count))
        let count = manifest.periods.reduce(0) { $0 + $1.adaptationSets.reduce(0) { $0 + $1.representations.count } }
        members.set("representation_total", .integer(count))
        var periods: [JSONValue] = []
        var workspace = DASHWorkspace()
        for (period, times) in zip(manifest.periods, manifest.periodTimes) {
            periods.append(try json(period, times: times, of: manifest, workspace: &workspace))
        }
        members.set("periods", .array(periods))
        members.set("warnings", unlessEmpty: manifest.warnings.map { .string($0.description) })
        return members.object
    }

    private static func json(
        _ period: DASHPeriod, times: DASHPeriodTimes, of manifest: DASHManifest, workspace: inout DASHWorkspace
    ) throws(ManifestError) -> JSONValue {
        var members = Members()
        members.set("id", JSONValue(period.id))
        members.set("start", JSONValue(times.start))
        members.set("duration", JSONValue(times.duration))
        if let reference = period.remoteReference {
            members.set("xlink_href", .string(reference))
            members.set("xlink_actuate", JSONValue(period.remoteActuation))
        }
        members.set("asset_identifier", ifPresent: period.assetIdentifier.map { JSONValue($0.value ?? $0.scheme) })
        members.set("event_streams", unlessEmpty: period.eventStreams.map(json))
        members.set("adaptation_set_count", .integer(period.adaptationSets.count))
        var sets: [JSONValue] = []
        for set in period.adaptationSets {
            sets.append(try json(set, in: period, times: times, of: manifest, workspace: &workspace))
        }
        members.set("adaptation_sets", .array(sets))
        return members.object
    }

    /// The clocks that the MPD names, those of producer reference times included, in the order of the schema.
    private static func clocks(_ manifest: DASHManifest) -> [DASHDescriptor] {
        let commons = manifest.periods.flatMap(\.adaptationSets).flatMap {
            [$0.common] + $0.representations.map(\.common)
        }
        return commons.flatMap(\.producerReferenceTimes).compactMap(\.utcTiming) + manifest.utcTimings
    }

    /// What a set says that it holds, or what its MIME type says.
    private static func contentType(_ set: DASHAdaptationSet) -> String? {
        if let contentType = set.contentType { return contentType }
        let mimeType = set.common.mimeType ?? set.representations.lazy.compactMap(\.common.mimeType).first
        let type = mimeType.map { String($0.prefix { $0 != "/" }) }
        return type == "application" ? nil : type
    }

    private static func json(_ stream: DASHEventStream) -> JSONValue {
        [
            "scheme": .string(stream.scheme), "value": JSONValue(stream.value),
            "timescale": JSONValue(stream.timescale),
            "event_count": .integer(stream.events.count),
            "events": .array(
                stream.events.prefix(eventCount).map { event in
                    var members = Members()
                    members.set("id", JSONValue(event.id))
                    members.set("presentation_time", JSONValue(event.presentationTime))
                    members.set("duration", JSONValue(event.duration))
                    return members.object
                }),
        ]
    }

    private static func json(_ description: DASHServiceDescription) -> JSONValue {
        var members = Members()
        members.set("id", JSONValue(description.id))
        if let latency = description.latency {
            var values = Members()
            let figures = [
                ("referenceId", latency.referenceID), ("target", latency.target), ("max", latency.maximum),
                ("min", latency.minimum),
            ]
            for (name, value) in figures { values.set(name, ifPresent: value.map { JSONValue($0) }) }
            members.set("latency", values.object)
        }
        if let rate = description.playbackRate {
            var values = Members()
            values.set("max", ifPresent: rate.maximum.map { JSONValue($0) })
            values.set("min", ifPresent: rate.minimum.map { JSONValue($0) })
            members.set("playback_rate", values.object)
        }
        return members.object
    }

    private static func json(_ descriptor: DASHDescriptor) -> JSONValue { json(descriptor, scheme: descriptor.scheme) }

    private static func json(_ descriptor: DASHDescriptor, scheme: String) -> JSONValue {
        var members = Members()
        members.set("scheme", .string(scheme))
        members.set("value", JSONValue(descriptor.value))
        members.set("default_kid", ifPresent: descriptor.defaultKeyID.map { .string($0.lowercased()) })
        return members.object
    }

    private static func json(
        _ set: DASHAdaptationSet, in period: DASHPeriod, times: DASHPeriodTimes, of manifest: DASHManifest,
        workspace: inout DASHWorkspace
    ) throws(ManifestError) -> JSONValue {
        var members = Members()
        members.set("id", JSONValue(set.id))
        members.set("content_type", JSONValue(contentType(set)))
        members.set("mime_type", JSONValue(set.common.mimeType))
        members.set("lang", JSONValue(set.language))
        let protections = set.common.contentProtections + set.representations.flatMap(\.common.contentProtections)
        let lists = [
            ("roles", set.roles), ("accessibility", set.accessibility),
            ("inband_event_streams", set.common.inbandEventStreams),
            ("essential_properties", set.common.essentialProperties),
            ("supplemental_properties", set.common.supplementalProperties),
        ]
        for (name, descriptors) in lists { members.set(name, unlessEmpty: descriptors.map(json)) }
        // UUIDs mean the same in either case.
        members.set("content_protection", unlessEmpty: protections.map { json($0, scheme: $0.scheme.lowercased()) })
        members.set("labels", unlessEmpty: set.labels.map { .string($0) })
        members.set("representation_count", .integer(set.representations.count))
        var representations: [JSONValue] = []
        for representation in set.representations {
            let addressing = try DASHAddressing(
                manifest, period: period, times: times, set: set, representation: representation,
                workspace: &workspace)
            representations.append(
                DASHRepresentationInspection(
                    manifest: manifest, times: times, set: set, representation: representation, addressing: addressing
                ).json)
        }
        members.set("representations", .array(representations))
        return members.object
    }
}
