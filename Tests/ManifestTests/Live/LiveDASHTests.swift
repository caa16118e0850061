import CoreModel
import Foundation
import Testing

@testable import Manifest

@Suite struct LiveDASHTests {
    /// An MPD of two-second segments that began at the machine clock's origin less 100 s.
    static func mpd(
        start: Int64 = LiveStage.wallClock - 100, attributes: String = "timeShiftBufferDepth=\"PT20S\"",
        period: String = "PT2S", inside: String = "", template: String = "duration=\"2\" media=\"$Number$.m4s\"",
        base: String = "", type: String = "dynamic"
    ) -> String {
        let update = period.isEmpty ? "" : "minimumUpdatePeriod=\"\(period)\""
        return """
            <MPD id="m" type="\(type)" availabilityStartTime="\(date(start))" minBufferTime="PT4S" \(update) \(attributes)>
            \(inside)<Period id="p" start="PT0S">\(base)<AdaptationSet mimeType="video/mp4">
            <Representation id="v" bandwidth="1" codecs="avc1.42c00d">
            <SegmentTemplate initialization="i.mp4" \(template)/></Representation></AdaptationSet></Period></MPD>
            """
    }

    static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
    }

    @Test("Segments of equal duration come by the clock, each when it is complete; the window is the time-shift buffer")
    func availability() throws {
        var stage = try LiveStage(Self.mpd(period: "PT1H"))
        stage.run(.milliseconds(10)) { _, _ in .gone }
        // 100 s after the start: 50 segments are complete, and 20 s are kept.
        #expect(stage.segments("v").map { $0.start.seconds } == stride(from: 80, to: 100, by: 2).map { Double($0) })
        stage.run(.seconds(7)) { _, _ in .gone }
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 104) && stage.loads.isEmpty)
        let window = try #require(stage.follower.window(at: stage.now))
        #expect(window.start == MediaTime(seconds: 86) && window.end == MediaTime(seconds: 106))
        #expect(abs(window.edge.seconds - 107.01) < 0.001)
        #expect(stage.follower.date(at: MediaTime(seconds: 106)) == UnixTime(seconds: LiveStage.wallClock + 6))
    }

    @Test("D29: without a time-shift buffer everything since the start is there, up to what is kept at most")
    func noDepth() throws {
        var stage = try LiveStage(Self.mpd(attributes: "", period: "PT1H"))
        stage.run(.milliseconds(10)) { _, _ in .gone }
        #expect(stage.segments("v").count == 50)
        stage = try LiveStage(Self.mpd(start: 0, attributes: "", period: "PT1H"))
        stage.run(.milliseconds(10)) { _, _ in .gone }
        #expect(stage.segments("v").count == ManifestLimits.liveSegmentCount)
    }

    @Test("D22: absent means it does not change, 0 that it is valid only now: loaded with each segment")
    func updatePeriod() throws {
        for (period, loads) in [("", 0...0), ("PT0S", 9...11), ("PT0.001S", 30...41), ("PT5S", 4...4)] {
            let text = Self.mpd(period: period)
            var stage = try LiveStage(text)
            stage.run(.seconds(20)) { _, _ in .text(text) }
            #expect(loads.contains(stage.loads.count), "\(period): \(stage.loads.count)")
        }
    }

    @Test("An MPD that can't be loaded again says nothing of segments that begin after its validity")
    func expiry() throws {
        var stage = try LiveStage(Self.mpd(period: "PT6S"))
        stage.run(.seconds(40)) { _, _ in .gone }
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 104))
        #expect(stage.events.contains(.stale))
        stage.run(.seconds(20)) { _, _ in .text(Self.mpd(period: "PT6S")) }
        #expect(stage.events.contains(.recovered))
        // What left the time-shift buffer meanwhile is not asked for.
        let starts = stage.segments("v").map { $0.start.seconds }
        #expect(starts.last == 158 || starts.last == 156)
        #expect(starts == starts.sorted() && Set(starts).count == starts.count)
    }

    @Test("D26: availability offsets of BaseURL and template add up; INF is always")
    func offsets() throws {
        let template = "duration=\"2\" media=\"$Number$.m4s\" availabilityTimeOffset=\"0.5\""
        var stage = try LiveStage(
            Self.mpd(period: "PT1H", template: template, base: "<BaseURL availabilityTimeOffset=\"1\">x/</BaseURL>"))
        stage.run(.milliseconds(10)) { _, _ in .gone }
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 98))
        stage.run(.milliseconds(600)) { _, _ in .gone }
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 100))
        stage = try LiveStage(
            Self.mpd(period: "PT10S", template: template, base: "<BaseURL availabilityTimeOffset=\"INF\">x/</BaseURL>"))
        stage.run(.milliseconds(10)) { _, _ in .gone }
        // Up to the MPD's validity.
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 108))
    }

    @Test("D25: the clock is 40 s wrong: UTCTiming is asked, one after the other, then the date of the answers counts")
    func clock() throws {
        let truth = LiveStage.wallClock
        let timings = """
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-xsdate:2014" value="http://t/1"/>
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-head:2014" value="http://t/2"/>
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="http://t/3 http://t/4"/>
            """
        let text = Self.mpd(period: "PT1H", inside: timings)
        for wrong: Int64 in [-40, 40] {
            var stage = try LiveStage(text, wallClock: truth + wrong)
            stage.run(.milliseconds(10_100)) { request, seconds in
                switch request.url {
                case "http://t/1": return .gone
                case "http://t/2": return .answer(LiveAnswer(bytes: [], finalURL: request.url))
                case "http://t/3": return .text("<html>rubbish</html>")
                default: return .text(Self.date(truth + Int64(seconds)) + "\n")
                }
            }
            #expect(stage.loads.map(\.url) == ["http://t/1", "http://t/2", "http://t/3", "http://t/4"])
            #expect(stage.loads[1].purpose == .clock)
            #expect(stage.follower.clockOffset == .seconds(-wrong))
            #expect(stage.segments("v").last?.start == MediaTime(seconds: 108))
            stage = try LiveStage(text, wallClock: truth + wrong, date: UnixTime(seconds: truth))
            stage.run(.seconds(10)) { _, _ in .gone }
            #expect(abs(stage.follower.clockOffset.inSeconds + Double(wrong)) <= 1)
            #expect(abs((stage.segments("v").last?.start.seconds ?? 0) - 108) <= 2)
        }
        let direct = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"\(Self.date(truth))\"/>"
        let stage = try LiveStage(Self.mpd(inside: direct), wallClock: truth - 40)
        #expect(stage.follower.clockOffset == .seconds(40))
    }

    @Test("The time by NTP: the request that RFC 4330 has, and answers of servers that know the time")
    func networkTime() throws {
        var answer = [UInt8](repeating: 0, count: 48)
        (answer[0], answer[1]) = (0x24, 2)
        // 1 January 2000 is 3,155,673,600 seconds after 1900.
        answer.replaceSubrange(40..<48, with: [0xBC, 0x17, 0xC2, 0x00, 0x80, 0, 0, 0])
        #expect(NTPTime.parse(answer) == UnixTime(milliseconds: 946_684_800_500))
        answer[1] = 0  // "kiss of death"
        #expect(NTPTime.parse(answer) == nil)
        #expect(NTPTime.parse([]) == nil && NTPTime.request.count == 48 && NTPTime.request[0] & 7 == 3)
        let text = Self.mpd(
            inside: "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:ntp:2014\" value=\"time.example\"/>")
        var stage = try LiveStage(text)
        stage.run(.milliseconds(1)) { _, _ in .gone }
        #expect(stage.loads.first?.url == "time.example")
    }

    @Test("An encoder's restart moves availabilityStartTime: another epoch, and the wall clock goes on")
    func restart() throws {
        var stage = try LiveStage(Self.mpd())
        stage.run(.seconds(30)) { _, seconds in
            .text(Self.mpd(start: seconds < 10 ? LiveStage.wallClock - 100 : LiveStage.wallClock + 9))
        }
        #expect(stage.events.contains(.restarted("v", epoch: 1)))
        let segments = stage.segments("v")
        #expect(segments.last?.epoch == 1 && segments.last?.position.number ?? 99 < 30)
        #expect(segments.map { $0.start } == segments.map { $0.start }.sorted())
        // 9 s after the machine's origin is 109 s after the first start.
        let first = try #require(segments.first { $0.epoch == 1 })
        #expect(first.start.seconds >= 109 && first.start.seconds < 112)
        #expect(first.mediaOffset == MediaTime(seconds: 109))
        #expect(stage.follower.edge(at: stage.now) == MediaTime(seconds: 130))
        #expect(Set(segments.map { "\($0.epoch) \($0.position)" }).count == segments.count)
    }

    @Test("D23: times that move by a fraction of a segment between refreshes make no duplicates")
    func movingTimes() throws {
        func text(_ first: Int, shift: Int) -> String {
            Self.mpd(template: "timescale=\"48000\" media=\"$Time$.m4s\"").replacingOccurrences(
                of: "\"/></Representation>",
                with:
                    "\"><SegmentTimeline><S t=\"\(first * 96_000 - shift)\" d=\"96000\" r=\"4\"/></SegmentTimeline></SegmentTemplate></Representation>"
            )
        }
        var stage = try LiveStage(text(40, shift: 0))
        stage.run(.seconds(3)) { _, _ in .text(text(41, shift: 3_072)) }
        #expect(stage.segments("v").map { ($0.start.seconds * 10).rounded() / 10 } == [80, 82, 84, 86, 88, 89.9])
    }

    @Test(
        "Latency: the setting, ServiceDescription, suggestedPresentationDelay, minBufferTime; never less than it takes")
    func latency() throws {
        func target(_ attributes: String, _ inside: String = "") throws -> Duration {
            try LiveStage(Self.mpd(attributes: attributes, inside: inside)).follower.targetLatency
        }
        let service =
            "<ServiceDescription><Latency target=\"7500\"/><PlaybackRate min=\"0.96\" max=\"1.04\"/></ServiceDescription>"
        #expect(try target("suggestedPresentationDelay=\"PT9S\"", service) == .milliseconds(7_500))
        #expect(try target("suggestedPresentationDelay=\"PT9S\"") == .seconds(9))
        #expect(try target("timeShiftBufferDepth=\"PT60S\"") == .seconds(6))
        #expect(try target("timeShiftBufferDepth=\"PT5S\"") == .seconds(5))
        // A segment of two seconds is there when it is over.
        #expect(try target("suggestedPresentationDelay=\"PT1S\"") == .seconds(3))
        #expect(try LiveStage(Self.mpd(inside: service)).follower.playbackRates == 0.96...1.04)
    }

    @Test("Location is where the next load goes; an older publishTime is a cache's")
    func location() throws {
        let text = Self.mpd(
            attributes: "publishTime=\"2023-01-01T00:00:10Z\"", inside: "<Location>http://other/x/m.mpd</Location>")
        var stage = try LiveStage(text)
        stage.run(.seconds(5)) { _, _ in .text(Self.mpd(attributes: "publishTime=\"2023-01-01T00:00:01Z\"")) }
        #expect(stage.loads.allSatisfy { $0.url == "http://other/x/m.mpd" })
        #expect(stage.events.contains(.ignoredOlder("v")))
    }

    @Test("The end: a static MPD takes back what the clock alone had promised behind it")
    func end() throws {
        var stage = try LiveStage(Self.mpd(period: "PT30S"))
        stage.run(.seconds(60)) { _, _ in
            .text(Self.mpd(attributes: "mediaPresentationDuration=\"PT111S\"", period: "", type: "static"))
        }
        #expect(stage.events.last == .ended && stage.loads.count == 1)
        // At 30 s 130 s would have been there; the last segment is the one that 111 s falls into.
        #expect(stage.segments("v").last?.start == MediaTime(seconds: 110))
        #expect(stage.follower.timeline(of: "v")?.segments.count == 16)
    }

    @Test(
        "The corpus' updates, from the first segment to a static MPD whose period lies elsewhere",
        .enabled(if: Corpus.exists))
    func corpusUpdates() throws {
        for (name, count, periods) in [("dash", 6, 1), ("multiperiod", 3, 3)] {
            let files = try (0..<count).map {
                String(decoding: try Corpus.bytes("streams/dash-live-updates/\(name)_\($0).mpd"), as: UTF8.self)
            }
            let clock = try #require(DateText.parse(name == "dash" ? "2021-10-28T07:36:29.9Z" : "2021-10-28T07:53:10Z"))
            var stage = try LiveStage(
                files[0], url: Corpus.url("m.mpd"), wallClock: clock.seconds)
            var next = 0
            stage.run(.seconds(60)) { _, _ in
                next = min(next + 1, count - 1)
                return .text(files[next])
            }
            let segments = stage.segments(stage.follower.followed[0])
            #expect(stage.follower.isEnded && stage.events.last == .ended, "\(name)")
            #expect(segments.count == 7 * periods)
            for (one, other) in zip(segments, segments.dropFirst()) {
                #expect(one.effectiveEnd == other.start && one.duration == MediaTime(seconds: 2))
            }
        }
    }

    @Test("The corpus' SegmentList moves on by its numbers", .enabled(if: Corpus.exists))
    func corpusList() throws {
        let files = try (1...3).map {
            String(decoding: try Corpus.bytes("mpd/streamlink-test_dynamic_segment_list_p\($0).mpd"), as: UTF8.self)
        }
        let update = { (text: String) in
            text.replacingOccurrences(of: "type=\"dynamic\"", with: "type=\"dynamic\" minimumUpdatePeriod=\"PT4S\"")
        }
        var stage = try LiveStage(update(files[0]), url: Corpus.url("m.mpd"))
        var next = 0
        stage.run(.seconds(11)) { _, _ in
            next = min(next + 1, 2)
            return .text(update(files[next]))
        }
        let segments = stage.segments(stage.follower.followed[0])
        let names = segments.map { $0.url.split(separator: "/").last.map(String.init) ?? "" }
        let numbers = names.compactMap { Int($0.prefix { $0.isNumber }) }
        #expect(numbers.count > 10 && numbers == Array(numbers[0]..<numbers[0] + numbers.count))
        for (one, other) in zip(segments, segments.dropFirst()) { #expect(one.end == other.start) }
        #expect(Set(segments.map(\.position)).count == segments.count)
    }
}
