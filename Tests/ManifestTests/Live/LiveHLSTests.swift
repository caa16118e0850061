import CoreModel
import Testing

@testable import Manifest

@Suite struct LiveHLSTests {
    /// The playlist of an encoder that began at second 0, as it is at `seconds`: six segments of two seconds.
    private static func window(at seconds: Double, head: String = "") -> String {
        let last = Int(seconds / 2) + 5
        return LiveStage.playlist(last - 5...last, head: head)
    }

    @Test("Changed: the target duration; unchanged: half of it (RFC 8216bis, 6.3.4)")
    func pace() throws {
        var stage = try LiveStage(LiveStage.playlist(0...5))
        // The server publishes at 3 s and is stuck after that.
        stage.run(.seconds(8)) { _, seconds in .text(LiveStage.playlist(seconds < 3 ? 0...5 : 1...6)) }
        #expect(stage.loads.map(\.seconds) == [2, 3, 5, 6, 7, 8])
        #expect(stage.segments().map(\.position.number) == [0, 1, 2, 3, 4, 5, 6])
        #expect(stage.events.contains(.ready))
    }

    @Test(
        "H05, H29: target durations of 0 and fractions don't make a storm; one segment is looked for after its own time"
    )
    func smallTargets() throws {
        for target in ["0", "0.5", "0.001"] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXTINF:\(target),\na.ts\n"
            var stage = try LiveStage(text)
            stage.run(.seconds(10)) { _, _ in .text(text) }
            #expect((1...21).contains(stage.loads.count))
        }
        var stage = try LiveStage("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n")
        stage.run(.seconds(5)) { _, _ in
            .text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:4,\nb.ts\n")
        }
        #expect(stage.loads.first?.seconds == 4)
    }

    @Test("A1, H19: discontinuity numbers go on where a playlist doesn't say where they begin")
    func discontinuities() throws {
        var stage = try LiveStage(
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:10\n#EXTINF:2,\na.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:2,\nb.ts\n#EXTINF:2,\nc.ts\n"
        )
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(11...13) { ["b.ts", "c.ts", "d.ts"][$0 - 11] }) }
        #expect(stage.segments().map(\.position.section) == [0, 1, 1, 1])
        #expect(stage.segments().map(\.position.number) == [10, 11, 12, 13])

        let every = { (_: Int) in "#EXT-X-DISCONTINUITY\n" }
        stage = try LiveStage(LiveStage.playlist(0...4, before: every))
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(1...5, before: every)) }
        #expect(stage.segments().map(\.position.section) == [1, 2, 3, 4, 5, 6])
    }

    @Test("A5, H22: numbers that go back are an encoder's restart, or a copy from a cache that is behind")
    func goingBack() throws {
        let known = LiveStage.playlist(150...152)
        var stage = try LiveStage(known)
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(80...82) { "t\($0).ts" }) }
        #expect(stage.events.contains(.restarted("main", epoch: 1)))
        #expect(stage.segments().map(\.position.number) == [150, 151, 152, 80, 81, 82])
        #expect(stage.segments().map(\.epoch) == [0, 0, 0, 1, 1, 1])
        #expect(stage.segments().map { $0.start.seconds } == [0, 2, 4, 6, 8, 10])
        #expect(Set(stage.segments().map(\.section)).count == 2)

        stage = try LiveStage(known)
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(148...150)) }
        #expect(stage.events.contains(.ignoredOlder("main")) && stage.segments().count == 3)
        #expect(stage.segments().allSatisfy { $0.epoch == 0 })
    }

    @Test("An encoder that starts again under its old names is told by its dates, or by its going on without them")
    func restartUnderOldNames() throws {
        func dated(_ numbers: ClosedRange<Int>, hour: Int) -> String {
            LiveStage.playlist(numbers, before: { "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T\(hour):00:\($0 + 10)Z\n" })
        }
        var stage = try LiveStage(dated(0...5, hour: 10))
        stage.run(.seconds(3)) { _, _ in .text(dated(0...1, hour: 11)) }
        #expect(stage.events.contains(.restarted("main", epoch: 1)) && stage.segments().count == 8)
        // The first run's list from a cache does not bring it back.
        stage.run(.seconds(2)) { _, _ in .text(dated(0...5, hour: 10)) }
        #expect(stage.segments().count == 8 && stage.events.contains(.ignoredOlder("main")))

        stage = try LiveStage(LiveStage.playlist(0...20))
        let start = 0.0
        stage.run(.seconds(20)) { _, seconds in .text(LiveStage.playlist(0...Int((seconds - start) / 2))) }
        #expect(stage.events.contains(.restarted("main", epoch: 1)))
        #expect(stage.segments().last.map { $0.epoch == 1 && $0.position.number == 10 } ?? false)
    }

    @Test("H23: a list that jumps ahead is taken up where it is, and the gap is told")
    func jumpAhead() throws {
        var stage = try LiveStage(LiveStage.playlist(0...5))
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(20...25)) }
        #expect(stage.events.contains(.jumped("main", missingSegments: 14)))
        #expect(stage.segments().map(\.position.number) == Array(0...5) + Array(20...25))
        // The clock is anchored anew behind the gap: the timestamps jump there.
        #expect(Set(stage.segments().map(\.section)).count == 2)
    }

    @Test("A list that is stuck is stale after 3.5 target durations, and nothing is lost when it goes on")
    func stale() throws {
        var stage = try LiveStage(Self.window(at: 0))
        stage.run(.seconds(60)) { _, seconds in
            .text(Self.window(at: (10..<30).contains(seconds) ? 10 : seconds))
        }
        #expect(stage.events.contains(.stale) && stage.events.contains(.recovered))
        #expect(stage.segments().map(\.position.number).suffix(10) == Array(26...35).map { UInt64($0) }[...])
        let window = try #require(stage.follower.window(at: stage.now))
        // Six segments of two seconds end at the edge, and four were never seen.
        #expect(stage.events.contains(.jumped("main", missingSegments: 4)))
        #expect(abs(window.edge.seconds - (72 - 8)) <= 2)
        // Half the pace while it was stuck, never more.
        #expect(stage.loads.filter { (12..<30).contains($0.seconds) }.count <= 18)
    }

    @Test("Two renditions lie side by side by their dates, whatever their numbers are")
    func alignment() throws {
        let main =
            "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\",URI=\"a.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.42c00d,mp4a.40.2\",AUDIO=\"a\"\nv.m3u8\n"
        var stage = try LiveStage(main)
        let ids = stage.follower.followed
        let date = { (number: Int) in "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:\(number + 10)Z\n" }
        stage.run(.seconds(1)) { request, _ in
            request.url.hasSuffix("v.m3u8")
                ? .text(LiveStage.playlist(0...5, before: { date($0 * 2) }))
                : .text(LiveStage.playlist(700...702, before: { date(($0 - 700) * 2 + 8) }))
        }
        let video = try #require(ids.first { stage.segments($0).count == 6 })
        let audio = try #require(ids.first { stage.segments($0).count == 3 })
        let difference = stage.segments(audio)[0].start - stage.segments(video)[0].start
        #expect(difference == MediaTime(seconds: 8))
        #expect(stage.follower.isReady)
    }

    @Test("What was not encoded, or left the list unseen, is a hole in the timeline where dates tell how long it is")
    func holes() throws {
        func text(_ numbers: ClosedRange<Int>, at offset: Int64, sequence: Int) -> String {
            LiveStage.playlist(numbers, sequence: sequence) {
                "s\($0).ts"
            } before: {
                "#EXT-X-PROGRAM-DATE-TIME:\(LiveDASHTests.date(LiveStage.wallClock + offset + Int64(($0 - numbers.lowerBound) * 2)))\n"
            }
        }
        let first = text(0...5, at: -12, sequence: 0)
        for (offset, start) in [(5, 17.0), (500, 12.0)] as [(Int64, Double)] {
            // A second run; then a gap in one run.
            var stage = try LiveStage(first)
            stage.run(.seconds(3)) { _, _ in .text(text(0...1, at: offset + 20, sequence: 0)) }
            var added = stage.segments().suffix(2)
            #expect(added.first?.start.seconds == (start == 17 ? 37 : 12) && added.first?.epoch == 1)
            stage = try LiveStage(first)
            stage.run(.seconds(3)) { _, _ in .text(text(20...21, at: offset, sequence: 20)) }
            added = stage.segments().suffix(2)
            #expect(added.map { $0.start.seconds } == [start, start + 2])
        }
    }

    @Test(
        "The edge is known from the first look on where dates tell it, and they count for nothing where they are wrong")
    func dates() throws {
        func text(_ offset: Int64) -> String {
            LiveStage.playlist(0...5) {
                "s\($0).ts"
            } before: {
                "#EXT-X-PROGRAM-DATE-TIME:\(LiveDASHTests.date(LiveStage.wallClock + offset + Int64($0 * 2)))\n"
            }
        }
        // The last of the twelve seconds ended a second before it was seen.
        var stage = try LiveStage(text(-13))
        #expect(stage.follower.window(at: stage.now)?.edge == MediaTime(seconds: 13))
        #expect(stage.follower.date(at: MediaTime(seconds: 13)) == UnixTime(seconds: LiveStage.wallClock))
        for wrong: Int64 in [-3_613, 3_600] {
            stage = try LiveStage(text(wrong))
            #expect(stage.follower.window(at: stage.now)?.edge == MediaTime(seconds: 12))
        }
    }

    @Test("Latency: the setting, HOLD-BACK, three target durations")
    func latency() throws {
        #expect(try LiveStage(LiveStage.playlist(0...5)).follower.targetLatency == .seconds(6))
        let control = "#EXT-X-SERVER-CONTROL:HOLD-BACK=9.5,PART-HOLD-BACK=1.2\n#EXT-X-PART-INF:PART-TARGET=0.4\n"
        #expect(try LiveStage(LiveStage.playlist(0...5, head: control)).follower.targetLatency == .milliseconds(9_500))
        var configuration = LiveConfiguration()
        configuration.usesParts = true
        #expect(
            try LiveStage(LiveStage.playlist(0...5, head: control), configuration: configuration).follower.targetLatency
                == .milliseconds(1_200))
        configuration.targetLatency = .seconds(20)
        #expect(
            try LiveStage(LiveStage.playlist(0...5), configuration: configuration).follower.targetLatency
                == .seconds(20))
    }

    @Test("The end: ENDLIST stops the loads, and the timeline is ended")
    func end() throws {
        var stage = try LiveStage(LiveStage.playlist(0...5))
        stage.run(.seconds(30)) { _, _ in .text(LiveStage.playlist(1...6, tail: "#EXT-X-ENDLIST\n")) }
        #expect(stage.loads.count == 1 && stage.follower.isEnded && stage.events.last == .ended)
        #expect(stage.follower.timeline(of: "main")?.isEnded == true)
        #expect(stage.segments().count == 7)
    }

    @Test("A token that changes with each refresh renews the addresses of what is known, not the names")
    func tokens() throws {
        var stage = try LiveStage(LiveStage.playlist(0...5) { "s\($0).ts?t=1" })
        let names = stage.segments().map(\.position)
        stage.run(.seconds(3)) { _, _ in .text(LiveStage.playlist(1...6) { "s\($0).ts?t=2" }) }
        #expect(Array(stage.segments().map(\.position).prefix(6)) == names)
        #expect(stage.segments().dropFirst().allSatisfy { $0.url.hasSuffix("?t=2") })
    }

    @Test("A day of segments keeps a bounded window, and an index names one segment for ever")
    func longRun() throws {
        var stage = try LiveStage(Self.window(at: 0))
        stage.run(.seconds(20_000), limit: 100_000) { _, seconds in .text(Self.window(at: seconds)) }
        let list = try #require(stage.follower.timeline(of: "main")?.segments)
        #expect(list.count < 64 && list.startIndex > 9_000 && list.last?.position.number == UInt64(list.endIndex - 1))
        #expect(list[list.startIndex].start == MediaTime(seconds: Int64(list.startIndex * 2)))
    }
}
