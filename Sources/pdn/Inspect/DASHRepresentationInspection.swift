import CommandLineSupport
import CoreModel
import Manifest

/// A representation within a period as JSON.
struct DASHRepresentationInspection {
    let manifest: DASHManifest
    let times: DASHPeriodTimes
    let set: DASHAdaptationSet
    let representation: DASHRepresentation
    let addressing: DASHAddressing

    /// The instant, in seconds after the period's start, at which an open list of segments is shown.
    private static let instant = MediaTime(ticks: 12_345_678, timescale: 1_000)

    var json: JSONValue {
        var members = ManifestInspection.Members()
        members.set("id", JSONValue(representation.id))
        members.set("bandwidth", JSONValue(representation.bandwidth))
        addAttributes(&members)
        members.set("base_url", .string(addressing.baseURL.text))
        if addressing.baseURLChoiceCount > 1 {
            members.set("base_url_choices", .integer(addressing.baseURLChoiceCount))
        }
        let offsets = baseURLs.compactMap(\.availabilityTimeOffset)
        members.set("base_url_availability_time_offset", unlessEmpty: offsets.map { .string($0) })
        members.set("addressing", .string(addressing.method.rawValue))
        if let information = addressing.information { addInformation(information, &members) }
        members.set("media_url", ifPresent: addressing.media.map { .string($0.url) })
        addSegments(&members)
        return members.object
    }

    private var baseURLs: [DASHBaseURL] {
        manifest.baseURLs + set.baseURLs + representation.baseURLs
    }

    private func addAttributes(_ members: inout ManifestInspection.Members) {
        let common = representation.common.inheriting(set.common)
        let texts = [
            ("codecs", common.codecs), ("mime_type", common.mimeType), ("frame_rate", common.frameRate),
            ("sar", common.sampleAspectRatio), ("scan_type", common.scanType),
            ("audio_sampling_rate", common.audioSamplingRate), ("dependency_id", representation.dependencyID),
        ]
        for (name, text) in texts { members.set(name, ifPresent: text.map { .string($0) }) }
        members.set("width", ifPresent: common.width.map { JSONValue($0) })
        members.set("height", ifPresent: common.height.map { JSONValue($0) })
        members.set(
            "audio_channel_configuration",
            ifPresent: common.audioChannelConfigurations.first.map {
                ["scheme": .string($0.scheme), "value": JSONValue($0.value)]
            })
    }

    private func addInformation(_ information: DASHSegmentInformation, _ members: inout ManifestInspection.Members) {
        members.set("timescale", .integer(Int(addressing.timescale)))
        members.set("presentation_time_offset", JSONValue(addressing.presentationTimeOffset))
        if information.kind != .base { members.set("start_number", JSONValue(addressing.startNumber)) }
        members.set("end_number", ifPresent: information.endNumber.map { JSONValue($0) })
        members.set("init", json(addressing.initialization))
        if information.kind == .base {
            members.set("index_range", ManifestInspection.json(inclusive: information.indexRange))
        }
        members.set("index_range_exact", ifPresent: information.indexRangeExact.map { .string($0) })
        if information.representationIndex != nil {
            members.set("representation_index", json(addressing.index))
        }
        members.set("availability_time_offset", ifPresent: information.availabilityTimeOffset.map { .string($0) })
        members.set("ept_delta", ifPresent: information.earliestPresentationTimeDelta.map { .string(String($0)) })
        members.set("pd_delta", ifPresent: information.presentationDurationDelta.map { .string(String($0)) })
        if let duration = information.duration, information.timeline == nil {
            members.set("segment_duration", JSONValue(seconds(duration)))
        }
    }

    private func json(_ resource: DASHAddressing.Resource?) -> JSONValue {
        guard let resource else { return nil }
        return ["url": .string(resource.url), "range": ManifestInspection.json(inclusive: resource.range)]
    }

    private func seconds(_ ticks: UInt64) -> MediaTime {
        MediaTime(ticks: Int64(clamping: ticks), timescale: addressing.timescale)
    }

    private func start(_ segment: DASHAddressing.Segment) -> MediaTime? {
        times.start.map { $0 + seconds(segment.time) - seconds(addressing.presentationTimeOffset) }
    }

    private func addSegments(_ members: inout ManifestInspection.Members) {
        switch addressing.method {
        case .single, .none, .base: return
        case .template:
            members.set("segment_count", nil)
            return
        case .templateNumber, .templateTimeline, .list: break
        }
        guard let count = addressing.count else {
            members.set("segment_count", nil)
            members.set("open_ended", true)
            members.set("first_number_url", .string(addressing.segment(at: 0).resource.url))
            members.set("live_at", ifPresent: liveEdge)
            return
        }
        members.set("segment_count", .integer(count))
        let overlapping = times.duration == nil ? count : addressing.indexesInPeriod(times).count
        if overlapping != count { members.set("segments_in_period", .integer(overlapping)) }
        let ends = ManifestInspection.ends(count)
        members.set("first", .array(ends.first.map { json(addressing.segment(at: $0)) }))
        members.set("last", .array(ends.last.map { json(addressing.segment(at: $0)) }))
    }

    private func json(_ segment: DASHAddressing.Segment) -> JSONValue {
        var members = ManifestInspection.Members()
        members.set("number", JSONValue(segment.number))
        members.set("time", JSONValue(segment.time))
        members.set("start", JSONValue(start(segment)))
        members.set("duration", JSONValue(segment.duration.map(seconds)))
        members.set("url", .string(segment.resource.url))
        members.set("range", ManifestInspection.json(inclusive: segment.resource.range))
        members.set("index_range", ifPresent: segment.indexRange.map { ManifestInspection.json(inclusive: $0) })
        return members.object
    }

    /// The newest and the oldest segment at an instant of a live period without an end.
    private var liveEdge: JSONValue? {
        guard addressing.method == .templateNumber, let duration = addressing.information?.duration,
            let offset = availabilityTimeOffset, let depth = manifest.timeShiftBufferDepth
        else { return nil }
        let ended = (Self.instant + offset).ticks(at: addressing.timescale) / Int64(clamping: duration)
        let expired = (Self.instant - depth).ticks(at: addressing.timescale) / Int64(clamping: duration)
        guard ended > 0, expired >= 0 else { return nil }
        let newest = addressing.segment(at: Int(ended - 1))
        return [
            "seconds_after_period_start": JSONValue(Self.instant),
            "newest_available_number": JSONValue(newest.number),
            "newest_available_url": .string(newest.resource.url),
            "oldest_number_ending_inside_the_time_shift_buffer": JSONValue(addressing.startNumber + UInt64(expired)),
        ]
    }

    /// The sum of the offsets that apply; `nil` if segments are available always.
    private var availabilityTimeOffset: MediaTime? {
        var sum = MediaTime.zero
        for text in baseURLs.prefix(1).map(\.availabilityTimeOffset) + [addressing.information?.availabilityTimeOffset]
        {
            guard let text else { continue }
            guard let seconds = Double(text), seconds.isFinite, abs(seconds) < 1e9 else { return nil }
            sum += MediaTime(ticks: Int64((seconds * 1_000_000).rounded()), timescale: 1_000_000)
        }
        return sum
    }
}
