import CoreModel
import Testing

@testable import Manifest

/// What servers must not be able to do to a follower.
@Suite struct LiveHostileTests {
    private static let good = LiveStage.playlist(0...5)

    @Test("Rubbish, empty lists and other documents are left aside; what was known stays, and asking is slow")
    func rubbish() throws {
        let bad = [
            "", "#EXTM3U\n", "<html/>", LiveDASHTests.mpd(), "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nm.m3u8\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n#EXTINF:2,\na.ts\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:18446744073709551614\n#EXTINF:2,\na.ts\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:3\n#EXT-X-SKIP:SKIPPED-SEGMENTS=200000\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n#EXT-X-BYTERANGE:5\nz.ts\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:99999999999\n#EXT-X-MEDIA-SEQUENCE:6\n#EXTINF:9999999999,\nz.ts\n",
        ]
        for text in bad {
            var stage = try LiveStage(Self.good)
            stage.run(.seconds(60)) { _, _ in .text(text) }
            #expect(stage.segments().prefix(6).map(\.position.number) == [0, 1, 2, 3, 4, 5], "\(text.prefix(60))")
            #expect(stage.loads.count <= 62, "\(text.prefix(60))")
        }
    }

    @Test("A server whose every answer is another run stays bounded")
    func flapping() throws {
        var stage = try LiveStage(Self.good)
        var turn = 0
        stage.run(.seconds(2_000), limit: 200_000) { _, _ in
            turn += 1
            return .text(LiveStage.playlist(0...5, sequence: turn % 2 * 1_000_000) { "t\(turn)-\($0).ts" })
        }
        #expect(stage.follower.timeline(of: "main")?.segments.count ?? 0 <= ManifestLimits.liveSegmentCount)
        #expect(stage.loads.count < 4_001)
    }

    @Test("Dates, delays and clocks at the ends of their ranges")
    func extremes() throws {
        for text in [
            LiveDASHTests.mpd(
                attributes: "suggestedPresentationDelay=\"P9999999Y\" timeShiftBufferDepth=\"PT9000000000000S\""),
            LiveDASHTests.mpd(attributes: "timeShiftBufferDepth=\"-PT5S\"", period: "-PT5S"),
            LiveDASHTests.mpd(template: "duration=\"1\" timescale=\"9223372036854775807\" media=\"$Number$\""),
            LiveDASHTests.mpd(template: "duration=\"18446744073709551615\" media=\"$Number$\""),
            LiveDASHTests.mpd(template: "duration=\"2\" startNumber=\"18446744073709551615\" media=\"$Number$\""),
            LiveDASHTests.mpd(
                inside: "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"9999-12-31T23:59:59Z\"/>"),
            LiveDASHTests.mpd(start: -62_135_596_800),
            LiveDASHTests.mpd(
                inside:
                    "<ServiceDescription><Latency target=\"18446744073709551615\"/><PlaybackRate min=\"-5\" max=\"1000000\"/></ServiceDescription>"
            ),
        ] {
            guard var stage = try? LiveStage(text) else { continue }
            stage.run(.seconds(20)) { _, _ in .text(text) }
            #expect(stage.loads.count <= 45)
            #expect(stage.segments("v").count <= ManifestLimits.liveSegmentCount)
            _ = (stage.follower.targetLatency, stage.follower.window(at: stage.now))
            #expect(stage.follower.playbackRates.upperBound <= 2)
        }
    }
}
