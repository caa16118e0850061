import CoreModel
import Foundation
import Testing

@testable import Manifest

@Suite(.enabled(if: Corpus.exists, "the shared corpus is not beside the checkout"))
struct CorpusTests {
    /// What the corpus expects of manifests of a kind, in the order of their names.
    private func manifests(_ kind: String) throws -> [(name: String, expected: [String: Any])] {
        try Corpus.section("manifests").filter { $0.value.text("kind") == kind }
            .map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    private func isNear(_ value: Double?, _ expected: Double?) -> Bool {
        guard let value, let expected else { return value == nil && expected == nil }
        return abs(value - expected) < 1e-6 * max(1, abs(expected) * 1e-6)
    }

    @Test("Media playlists: counts, durations, and the first and last segments")
    func mediaPlaylists() throws {
        let list = try manifests("hls-media")
        #expect(list.count > 70)
        for (name, expected) in list {
            let variables = expected["imported_variables"] as? [String: String] ?? [:]
            let playlist = try HLSMediaPlaylist.parse(
                Corpus.bytes(name), url: Corpus.url(name), variables: variables)
            #expect(playlist.segments.count == expected["segment_count"] as? Int, "\(name)")
            #expect(playlist.isEnded == expected["endlist"] as? Bool, "\(name)")
            #expect(Double(playlist.mediaSequence) == expected.number("media_sequence"), "\(name)")
            let total = playlist.segments.reduce(MediaTime.zero) { $0 + $1.duration }
            #expect(isNear(total.seconds, expected.number("total_duration")), "\(name)")
            let last = expected.objects("last")
            let ends =
                zip(playlist.segments, expected.objects("first")).map { ($0, $1) }
                + zip(playlist.segments.suffix(last.count), last)
            for (segment, values) in ends {
                #expect(Double(segment.mediaSequence) == values.number("n"), "\(name)")
                #expect(segment.uri == values.text("uri"), "\(name)")
                #expect(isNear(segment.duration.seconds, values.number("duration")), "\(name)")
                #expect(
                    Double(segment.discontinuitySequence) == values.number("discontinuity_sequence"), "\(name)")
                #expect(playlist.keys(of: segment).count == values.objects("keys").count, "\(name)")
                let map = values["map"] as? [String: Any]
                #expect(playlist.map(of: segment)?.uri == map?.text("uri"), "\(name)")
                let range = values["byterange"] as? [String: Any]
                #expect(segment.byteRange.map { Double($0.length) } == range?.number("length"), "\(name)")
                #expect(segment.byteRange?.offset.map { Double($0) } == range?.number("offset"), "\(name)")
            }
        }
    }

    @Test("Multivariant playlists: variants and renditions")
    func multivariantPlaylists() throws {
        let list = try manifests("hls-multivariant")
        #expect(list.count > 20)
        for (name, expected) in list {
            // The URL's query is part of what this one is about.
            let url = try #require(expected.text("url"))
            guard case .multivariant(let playlist) = try HLSPlaylist.parse(Corpus.bytes(name), url: url) else {
                Issue.record("\(name) was taken for a media playlist")
                continue
            }
            #expect(playlist.variants.map(\.uri) == expected.objects("variants").map { $0.text("uri") }, "\(name)")
            #expect(
                playlist.variants.map { $0.bandwidth.map { Double($0) } }
                    == expected.objects("variants").map { $0.number("bandwidth") }, "\(name)")
            #expect(playlist.renditions.map(\.uri) == expected.objects("renditions").map { $0.text("uri") }, "\(name)")
            #expect(
                playlist.renditions.map(\.isDefault)
                    == expected.objects("renditions").map { $0["default"] as? Bool ?? false }, "\(name)")
        }
    }

    @Test("MPDs: periods, addressing, and the first and last segments")
    func manifests() throws {
        let list = try manifests("dash")
        #expect(list.count > 90)
        for (name, expected) in list {
            let manifest = try DASHManifest.parse(Corpus.bytes(name), url: Corpus.url(name))
            let periods = expected.objects("periods")
            try #require(manifest.periods.count == periods.count, "\(name)")
            var workspace = DASHWorkspace()
            for ((period, times), values) in zip(zip(manifest.periods, manifest.periodTimes), periods) {
                #expect(isNear(times.start?.seconds, values.number("start")), "\(name)")
                #expect(isNear(times.duration?.seconds, values.number("duration")), "\(name)")
                let sets = values.objects("adaptation_sets")
                try #require(period.adaptationSets.count == sets.count, "\(name)")
                for (set, values) in zip(period.adaptationSets, sets) {
                    let representations = values.objects("representations")
                    try #require(set.representations.count == representations.count, "\(name)")
                    for (representation, values) in zip(set.representations, representations) {
                        let addressing = try DASHAddressing(
                            manifest, period: period, times: times, set: set, representation: representation,
                            workspace: &workspace)
                        check(addressing, times, against: values, name)
                    }
                }
            }
        }
    }

    private func check(
        _ addressing: DASHAddressing, _ times: DASHPeriodTimes, against values: [String: Any], _ name: String
    ) {
        #expect(addressing.method.rawValue == values.text("addressing"), "\(name)")
        #expect(addressing.baseURL.text == values.text("base_url"), "\(name)")
        let initialization = values["init"] as? [String: Any]
        #expect(addressing.initialization?.url == initialization?.text("url"), "\(name)")
        guard let count = addressing.count, let expectedCount = values["segment_count"] as? Int else { return }
        #expect(count == expectedCount, "\(name)")
        let last = values.objects("last")
        let ends =
            values.objects("first").enumerated().map { ($0.offset, $0.element) }
            + last.enumerated().map { (count - last.count + $0.offset, $0.element) }
        for (index, values) in ends {
            let segment = addressing.segment(at: index)
            #expect(segment.resource.url == values.text("url"), "\(name)")
            #expect(Double(segment.number) == values.number("number"), "\(name)")
            if let time = values.number("time") { #expect(Double(segment.time) == time, "\(name)") }
            let start = times.start.map {
                $0 + MediaTime(ticks: Int64(segment.time), timescale: addressing.timescale)
                    - MediaTime(ticks: Int64(addressing.presentationTimeOffset), timescale: addressing.timescale)
            }
            #expect(isNear(start?.seconds, values.number("start")), "\(name)")
        }
    }

    @Test("Every manifest gives a presentation, or says why its segments can't be placed")
    func presentations() throws {
        // Byte ranges without a beginning: RFC 8216bis, section 4.4.4.2.
        let unplaceable = ["hls/m3u8parser-byteRange.m3u8", "hls/media3t-parseMediaPlaylist.m3u8"]
        for (name, expected) in try Corpus.section("manifests") {
            let url = expected.text("url") ?? ""
            let variables = expected["imported_variables"] as? [String: String] ?? [:]
            let document = try ManifestDocument.parse(Corpus.bytes(name), url: url, variables: variables)
            if unplaceable.contains(name) {
                #expect(throws: ManifestError.self, "\(name)") { try Presentation(document) }
                continue
            }
            let presentation = try Presentation(document)
            for rendition in presentation.renditions {
                guard let segments = rendition.timeline?.segments else { continue }
                var end = MediaTime(seconds: -1 << 40)
                for segment in segments.prefix(2_000) {
                    #expect(segment.start >= end || segment.mediaOffset != nil, "\(name): time runs backwards")
                    end = segment.start
                }
            }
        }
    }

    @Test("Malformed manifests: error or tolerance as the corpus says, each within a second")
    func malformed() throws {
        for (name, expected) in try Corpus.section("malformed") {
            let bytes = try Corpus.bytes(name)
            let clock = ContinuousClock()
            var document: ManifestDocument?
            let duration = clock.measure { document = try? ManifestDocument.parse(bytes, url: Corpus.url(name)) }
            #expect(duration < .seconds(1), "\(name)")
            let isPlayable = document.flatMap { try? Presentation($0) } != nil
            switch expected.text("verdict") {
            case "error": #expect(document == nil, "\(name)")
            case "tolerate": #expect(isPlayable, "\(name)")
            default: break
            }
        }
    }
}
