import CoreModel
import Manifest
import Scheduling
import Testing
@testable import Delivery

/// What may be changed for what, and where one rendition has what another has.
@Suite struct RenditionLadderTests {
    private static func presentation(_ streams: [String], media: String = "") throws -> Presentation {
        let lines = streams.enumerated().map { "#EXT-X-STREAM-INF:\($1)\nv\($0).m3u8" }
        return try Presentation.parse(
            Array((["#EXTM3U", media] + lines).joined(separator: "\n").utf8), url: "http://h/master.m3u8")
    }

    private static func playlist(first: Int, durations: [Double]) -> [UInt8] {
        let list = durations.enumerated().map { "#EXTINF:\($1),\ns\(first + $0).ts" }
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-MEDIA-SEQUENCE:\(first)\n#EXT-X-PLAYLIST-TYPE:VOD"
        return Array(([head] + list + ["#EXT-X-ENDLIST\n"]).joined(separator: "\n").utf8)
    }

    @Test func theLadderRisesAndHoldsOneFormatOnly() throws {
        let presentation = try Self.presentation([
            #"BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.64001f,mp4a.40.2""#,
            #"BANDWIDTH=900000,RESOLUTION=640x360,CODECS="avc3.42001e,mp4a.40.2""#,
            // Other pictures, a copy, sound alone, and a mean rate that puts it lower than its peak does.
            #"BANDWIDTH=2000000,RESOLUTION=1280x720,CODECS="hvc1.1.6.L93,mp4a.40.2""#,
            #"BANDWIDTH=3000000,RESOLUTION=1280x720,CODECS="avc1.64001f,mp4a.40.2""#,
            #"BANDWIDTH=64000,CODECS="mp4a.40.2""#,
            #"BANDWIDTH=1500000,AVERAGE-BANDWIDTH=700000,RESOLUTION=480x270,CODECS="avc1.64001f,mp4a.40.2""#,
        ])
        let ladder = try #require(RenditionLadder(around: presentation.renditions[0].id, in: presentation))
        #expect(ladder.renditions.map(\.height) == [270, 360, 720])
        #expect(ladder.rungs.kilobitsPerSecond == [700, 900, 3000])
        var configuration = SessionConfiguration(url: "")
        // 0.7 × 4 Mbps don't carry 3 Mbps.
        #expect(ladder.startRung(configuration) == 1)
        configuration.startBitsPerSecond = 5_000_000
        #expect(ladder.startRung(configuration) == 2)
        configuration.maximumBitsPerSecond = 800_000
        #expect(ladder.startRung(configuration) == 0)
        configuration.maximumBitsPerSecond = nil
        configuration.viewport = .init(width: 600, height: 300)
        #expect(ladder.startRung(configuration) == 1)
    }

    @Test(arguments: [["BANDWIDTH=1000000"], ["BANDWIDTH=1", #"BANDWIDTH=2,CODECS="mp4a.40.2""#]])
    func oneRenditionIsNoLadder(streams: [String]) throws {
        let presentation = try Self.presentation(streams)
        #expect(RenditionLadder(around: presentation.renditions[0].id, in: presentation) == nil)
    }

    @Test func segmentsAreFoundByTheirTimesWhateverTheirNumbers() throws {
        var presentation = try Self.presentation(["BANDWIDTH=1000000", "BANDWIDTH=2000000", "BANDWIDTH=4000000"])
        let ids = presentation.renditions.map(\.id)
        let lists = [
            Self.playlist(first: 0, durations: [4, 4, 4, 4]),
            // Rounded otherwise, and counted from 100.
            Self.playlist(first: 100, durations: [4.04, 3.97, 4.02, 3.9]),
            // The first two are one here; what has the same number then is another.
            Self.playlist(first: 0, durations: [8, 4, 4]),
        ]
        for (id, list) in zip(ids, lists) {
            try presentation.load(id, bytes: list, finalURL: "http://h/\(id)/list.m3u8")
        }
        let segments = try presentation.renditions.map { try #require($0.timeline).segments }
        let ladder = try #require(RenditionLadder(around: ids[0], in: presentation))
        var renditions = TrackRenditions(
            ladder, first: ids[0], grid: segments[0], configuration: SessionConfiguration(url: ""))
        #expect(renditions.isReady(0) && !renditions.isReady(1) && renditions.segment(0, at: 1) == nil)
        #expect(renditions.absentRungs(0) == [])
        renditions.take(segments[1], for: 1)
        renditions.take(segments[2], for: 2)
        func numbers(_ rung: Int) -> [UInt64?] { (0..<4).map { renditions.segment($0, at: rung)?.position.number } }
        #expect(numbers(1) == [100, 101, 102, 103])
        #expect(numbers(2) == [nil, nil, 1, 2])
        #expect((0..<4).map(renditions.absentRungs) == [[2], [2], [], []])
    }
}
