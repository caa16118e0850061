import CoreModel
import Foundation
import Testing

@testable import Manifest

/// Delta updates, blocking reloads and rendition reports: RFC 8216bis, 6.2.5.
@Suite struct LiveReloadTests {
    private static let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=12,CAN-BLOCK-RELOAD=YES\n"

    private func media(_ text: String) throws -> HLSMediaPlaylist {
        try HLSMediaPlaylist.parse(Array(text.utf8), url: "http://h/m.m3u8")
    }

    @Test("Directives stand in the order of their bytes among the other parameters")
    func directives() {
        let all = [(name: "_HLS_skip", value: "YES"), (name: "_HLS_msn", value: "7")]
        #expect(HLSReload.adding(all, to: "http://h/m?z=1&a=2#f") == "http://h/m?_HLS_msn=7&_HLS_skip=YES&a=2&z=1#f")
        #expect(HLSReload.adding(all, to: "http://h/m?_HLS_msn=3") == "http://h/m?_HLS_msn=7&_HLS_skip=YES")
        #expect(HLSReload.adding([], to: "http://h/m?b&a") == "http://h/m?b&a")
    }

    @Test("A server that blocks is asked at once for the next number, with a delta; it sets the pace")
    func blocking() throws {
        var stage = try LiveStage(LiveStage.playlist(0...9, head: Self.control))
        stage.run(.seconds(9)) { request, seconds in
            // The n-th next segment is there at 2n seconds.
            let next = Int(seconds / 2) + 1
            let text =
                request.url.contains("_HLS_skip=YES")
                ? "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(next)\n\(Self.control)#EXT-X-SKIP:SKIPPED-SEGMENTS=8\n"
                    + (next + 8...next + 9).map { "#EXTINF:2,\ns\($0).ts\n" }.joined()
                : LiveStage.playlist(next...next + 9, head: Self.control)
            let answer = LiveAnswer(bytes: Array(text.utf8), finalURL: "http://h/live/m")
            return .after(.milliseconds(Int64((Double(next) * 2 - seconds) * 1_000)), answer)
        }
        #expect(stage.loads.first?.url == "http://h/live/m?_HLS_msn=10&_HLS_skip=YES")
        #expect(stage.loads.map { $0.url.contains("_HLS_msn=1") } == [true, true, true, true, true])
        #expect(stage.segments().map(\.position.number) == Array(0...13).map { UInt64($0) })
    }

    @Test("A server that refuses a blocking reload, or does not block, is asked plainly at the usual pace")
    func refusedBlocking() throws {
        var stage = try LiveStage(LiveStage.playlist(0...9, head: Self.control))
        stage.run(.seconds(10)) { request, _ in
            request.url.contains("_HLS_msn") ? .gone : .text(LiveStage.playlist(0...9, head: Self.control))
        }
        #expect(stage.loads.filter { $0.url.contains("_HLS_msn") }.count == 1)
        #expect(stage.loads.count <= 12)
        stage = try LiveStage(LiveStage.playlist(0...9, head: Self.control))
        stage.run(.seconds(10)) { _, _ in .text(LiveStage.playlist(0...9, head: Self.control)) }
        #expect(stage.loads.count <= 12)
    }

    @Test("H35: a delta to a state that isn't known is dropped, and the whole list is asked for")
    func deltaWithoutBase() throws {
        let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=12\n"
        var stage = try LiveStage(LiveStage.playlist(0...9, head: control))
        stage.run(.seconds(3)) { request, _ in
            request.url.contains("_HLS_skip")
                ? .text(
                    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-SKIP:SKIPPED-SEGMENTS=8\n#EXTINF:2,\ns13.ts\n"
                )
                : .text(LiveStage.playlist(5...13, head: control))
        }
        #expect(stage.loads.map(\.url) == ["http://h/live/m?_HLS_skip=YES", "http://h/live/m"])
        #expect(stage.segments().map(\.position.number) == Array(0...13).map { UInt64($0) })
    }

    @Test("H34: what held in the skipped part holds on: discontinuity numbers, map, keys, bit rate")
    func inheritance() throws {
        let base = try media(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-DISCONTINUITY-SEQUENCE:4
            #EXT-X-MAP:URI="i.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1
            #EXT-X-BITRATE:800
            #EXTINF:2,
            a.mp4
            #EXT-X-DISCONTINUITY
            #EXTINF:2,
            b.mp4
            """)
        let delta = try media(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-DISCONTINUITY-SEQUENCE:4
            #EXT-X-SKIP:SKIPPED-SEGMENTS=2
            #EXTINF:2,
            c.mp4
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="j.mp4"
            #EXTINF:2,
            d.mp4
            """)
        let merged = try #require(base.merging(delta))
        #expect(merged.segments.map(\.discontinuitySequence) == [4, 5, 5, 6])
        #expect(merged.segments.map { merged.map(of: $0)?.uri.suffix(5) } == ["i.mp4", "i.mp4", "i.mp4", "j.mp4"])
        #expect(merged.segments.allSatisfy { merged.keys(of: $0).first?.uri == "http://h/k" && $0.bitrate == 800 })
        #expect(merged.segments.map(\.mediaSequence) == [0, 1, 2, 3])
    }

    @Test("Delta after delta takes no more maps and keys than are used")
    func longChain() throws {
        var held = try media(
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:2,\ns0.mp4\n#EXTINF:2,\ns1.mp4\n")
        for number in 1...500 {
            let delta = try media(
                "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXT-X-MAP:URI=\"i\(number).mp4\"\n#EXTINF:2,\ns\(number + 1).mp4\n"
            )
            held = try #require(held.merging(delta))
        }
        #expect(held.segments.count == 2 && held.maps.count <= 8)
        #expect(held.segments.map { held.map(of: $0)?.uri.suffix(8) } == ["i499.mp4", "i500.mp4"])
    }

    @Test("A rendition that another reports on is first asked for with its number")
    func reports() throws {
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na/m.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nb/m.m3u8\n"
        let presentation = try Presentation.parse(Array(main.utf8), url: "http://h/main.m3u8")
        let ids = presentation.renditions.map(\.id)
        var stage = try LiveStage(main, url: "http://h/main.m3u8", following: [ids[0]])
        let tail = "#EXT-X-RENDITION-REPORT:URI=\"../b/m.m3u8\",LAST-MSN=77,LAST-PART=1\n"
        stage.run(.seconds(1)) { _, _ in .text(LiveStage.playlist(0...5, tail: tail)) }
        stage.follower.follow(ids[1], now: stage.now)
        stage.run(.seconds(1)) { _, _ in .text(LiveStage.playlist(72...77)) }
        #expect(stage.loads.first { $0.url.contains("/b/") }?.url == "http://h/b/m.m3u8?_HLS_msn=77")
        #expect(stage.segments(ids[1]).first?.start == stage.segments(ids[0]).first?.start)
    }

    @Test("The corpus' delta updates merge to what it says", .enabled(if: Corpus.exists))
    func corpus() throws {
        for sequence in try Corpus.sequences() where sequence.text("kind") == "hls-delta-update" {
            let (before, delta) = (try #require(sequence.text("before")), try #require(sequence.text("delta")))
            let expected = try #require(sequence["merged"] as? [String: Any])
            let base = try HLSMediaPlaylist.parse(Corpus.bytes(before), url: Corpus.url(before))
            let merged = try #require(base.merging(HLSMediaPlaylist.parse(Corpus.bytes(delta), url: Corpus.url(delta))))
            #expect(Double(merged.segments.count) == expected.number("segment_count"))
            for (segments, list) in [
                (merged.segments.prefix(3), expected.objects("first")),
                (merged.segments.suffix(3), expected.objects("last")),
            ] {
                for (segment, object) in zip(segments, list) {
                    #expect(Double(segment.mediaSequence) == object.number("n"))
                    #expect(
                        segment.uri == object.text("uri") && segment.isDiscontinuous == object["discontinuity"] as? Bool
                    )
                    #expect(abs(segment.duration.seconds - (object.number("duration") ?? 0)) < 1e-6)
                }
            }
        }
    }
}
