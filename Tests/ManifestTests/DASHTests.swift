import CoreModel
import Testing

@testable import Manifest

@Suite struct DASHTests {
    private func parse(_ text: String, url: String = "http://h/p/m.mpd?t=1") throws -> Presentation {
        try Presentation.parse(Array(text.utf8), url: url)
    }

    private func error(_ text: String) -> ManifestError? {
        do {
            _ = try parse(text)
            return nil
        } catch { return error as? ManifestError }
    }

    private func video(_ information: String, mpd: String = #"mediaPresentationDuration="PT20S""#) throws -> SegmentList
    {
        let presentation = try parse(
            """
            <MPD type="static" \(mpd)><Period><AdaptationSet mimeType="video/mp4">\(information)
            <Representation id="v" bandwidth="5"/></AdaptationSet></Period></MPD>
            """)
        return try #require(presentation.rendition("v")?.timeline?.segments)
    }

    @Test("Gaps and overlaps of a timeline stay as written")
    func gapsAndOverlaps() throws {
        let gap = try video(
            #"<SegmentTemplate media="$Time$"><SegmentTimeline><S t="0" d="8"/><S t="10" d="8"/></SegmentTimeline></SegmentTemplate>"#
        )
        #expect(gap.map(\.start) == [.zero, MediaTime(seconds: 10)])
        let overlap = try video(
            #"<SegmentTemplate media="$Time$"><SegmentTimeline><S t="0" d="10"/><S t="8" d="10"/></SegmentTimeline></SegmentTemplate>"#
        )
        #expect(overlap.map(\.start) == [.zero, MediaTime(seconds: 8)])
    }

    @Test("A negative repeat goes up to the next entry, or to the end of the period; sub-second segments too")
    func openRepeat() throws {
        let segments = try video(
            """
            <SegmentTemplate timescale="12800" startNumber="11" media="$Number$">
            <SegmentTimeline><S t="0" d="6400" r="-1"/><S t="64000" d="12800" r="-1"/></SegmentTimeline></SegmentTemplate>
            """)
        #expect(segments.count == 10 + 15)
        #expect(segments.first?.url == "http://h/p/11")
        #expect(segments[10].start == MediaTime(seconds: 5))
        #expect(segments.last?.url == "http://h/p/35")
    }

    @Test("The time of an entry without @t goes on; @n and @endNumber count")
    func numbers() throws {
        let segments = try video(
            """
            <SegmentTemplate media="$Number%03d$-$Time$" endNumber="21"><SegmentTimeline>
            <S t="2" d="4" r="1"/><S d="3" n="20" r="5"/></SegmentTimeline></SegmentTemplate>
            """)
        #expect(segments.map(\.url) == ["001-2", "002-6", "020-10", "021-13"].map { "http://h/p/" + $0 })
    }

    @Test("A list takes durations from @duration, or the k-th URL the k-th entry of its timeline")
    func lists() throws {
        let equal = try video(
            """
            <SegmentList duration="8" ><Initialization sourceURL="i.mp4" range="0-99"/><SegmentURL media="a"/>
            <SegmentURL mediaRange="100-199"/><SegmentURL media="c"/></SegmentList>
            """)
        #expect(equal.map(\.start) == [0, 8, 16].map { MediaTime(seconds: $0) })
        #expect(equal[0].initialization?.byteRange == 0..<100)
        #expect(equal[1].url == "http://h/p/m.mpd?t=1")
        #expect(equal[1].byteRange == 100..<200)
        #expect(equal[1].position.byteOffset == 100)
        let timed = try video(
            """
            <SegmentList><SegmentTimeline><S t="0" d="7"/><S d="5" r="3"/></SegmentTimeline><SegmentURL media="a"/>
            <SegmentURL media="b"/><SegmentURL media="c"/></SegmentList>
            """)
        #expect(timed.map(\.start) == [0, 7, 12].map { MediaTime(seconds: $0) })
    }

    @Test("Periods: start from the one before, positions by start, segments clipped to each, ids continue")
    func periods() throws {
        let template = #"<SegmentTemplate duration="4" media="$RepresentationID$/$Number$"/>"#
        let presentation = try parse(
            """
            <MPD type="static">
            <Period duration="PT6.5S"><AdaptationSet contentType="video"><SegmentTemplate duration="4" media="1/$Number$"/>
              <Representation id="v" bandwidth="5"/></AdaptationSet></Period>
            <Period duration="PT8S"><AdaptationSet contentType="video">\(template)
              <Representation id="ad" bandwidth="7"/></AdaptationSet></Period>
            <Period duration="PT8S"><AdaptationSet contentType="video">
              <SegmentTemplate duration="4" presentationTimeOffset="6" startNumber="3" media="3/$Number$"/>
              <Representation id="v" bandwidth="5"/></AdaptationSet></Period>
            </MPD>
            """)
        #expect(presentation.renditions.map(\.id) == ["v"])
        #expect(presentation.duration == MediaTime(ticks: 45, timescale: 2))
        let segments = try #require(presentation.renditions[0].timeline?.segments)
        #expect(
            segments.map(\.url) == ["1/1", "1/2", "ad/1", "ad/2", "3/3", "3/4"].map { "http://h/p/" + $0 })
        #expect(segments.map(\.section) == [0, 0, 6500, 6500, 14_500, 14_500])
        #expect(segments.map(\.position.number) == [0, 4, 0, 4, 6, 10])
        #expect(segments[4].start == MediaTime(ticks: 29, timescale: 2))
        #expect(segments[4].mediaOffset == MediaTime(ticks: 17, timescale: 2))
        #expect(segments[1].presentationWindow?.end == MediaTime(ticks: 13, timescale: 2))
        #expect(presentation.renditions[0].timeline?.index(at: MediaTime(ticks: 13, timescale: 2)) == 2)
    }

    @Test("BaseURLs of four levels are resolved one after the other, and an absolute one begins anew")
    func baseURLs() throws {
        let text = """
            <MPD type="static" mediaPresentationDuration="PT4S"><BaseURL>a/</BaseURL><Period><BaseURL>../b/</BaseURL>
            <AdaptationSet mimeType="video/mp4"><BaseURL>c/</BaseURL><SegmentTemplate duration="4" media="$Number$"/>
            <Representation id="r"><BaseURL>d/</BaseURL></Representation>
            <Representation id="s"><BaseURL>https://other/x/</BaseURL></Representation></AdaptationSet></Period></MPD>
            """
        let presentation = try parse(text)
        #expect(presentation.rendition("r")?.timeline?.segments[0].url == "http://h/p/b/c/d/1")
        #expect(presentation.rendition("s")?.timeline?.segments[0].url == "https://other/x/1")
    }

    @Test("Ampersands in attributes and text are read as such")
    func ampersands() throws {
        let presentation = try parse(
            """
            <MPD type="static" mediaPresentationDuration="PT4S"><BaseURL>http://b/?a=1&amp;b=2</BaseURL><Period>
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="4" media="x?$Number$&amp;y=&#38;"/>
            <Representation id="r"/></AdaptationSet></Period></MPD>
            """)
        #expect(presentation.rendition("r")?.timeline?.segments[0].url == "http://b/x?1&y=&")
    }

    @Test("SegmentBase asks for its index once for all periods, and takes its references")
    func segmentBase() throws {
        var presentation = try parse(
            """
            <MPD type="static"><Period duration="PT3S"><AdaptationSet mimeType="video/mp4"><Representation id="v">
            <BaseURL>v.mp4</BaseURL><SegmentBase indexRange="100-143"><Initialization range="0-99"/></SegmentBase>
            </Representation></AdaptationSet></Period><Period duration="PT3S"><AdaptationSet mimeType="video/mp4">
            <Representation id="v"><BaseURL>v.mp4</BaseURL><SegmentBase indexRange="100-143" presentationTimeOffset="3"/>
            </Representation></AdaptationSet></Period></MPD>
            """)
        #expect(presentation.rendition("v")?.timeline == nil)
        #expect(presentation.requirement(for: "v") == .segmentIndex(url: "http://h/p/v.mp4", byteRange: 100..<144))
        let index = SegmentIndexTests.box(timescale: 2, references: [(50, 4), (60, 4), (70, 4)])
        try presentation.load("v", bytes: index, finalURL: "http://h/p/v.mp4")
        let segments = try #require(presentation.rendition("v")?.timeline?.segments)
        let end = UInt64(100 + index.count)
        #expect(
            segments.map(\.byteRange) == [
                end..<(end + 50), (end + 50)..<(end + 110), (end + 50)..<(end + 110), (end + 110)..<(end + 180),
            ])
        #expect(segments.map(\.start) == [0, 2, 2, 4].map { MediaTime(seconds: $0) })
        // Where no Initialization is named, it is what stands in front of the index.
        #expect(segments.map(\.initialization?.byteRange) == [0..<100, 0..<100, 0..<100, 0..<100])
        #expect(presentation.requirement(for: "v") == .ready)
    }

    @Test("Protection is told, unknown essential properties leave a set out, trick play makes no variant")
    func setsThatAreSpecial() throws {
        let presentation = try parse(
            """
            <MPD type="static" mediaPresentationDuration="PT4S"><Period>
            <AdaptationSet mimeType="video/mp4"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>
              <SegmentTemplate duration="4" media="t"/><Representation id="t"/></AdaptationSet>
            <AdaptationSet mimeType="video/mp4"><EssentialProperty schemeIdUri="urn:x"/>
              <SegmentTemplate duration="4" media="e"/><Representation id="e"/></AdaptationSet>
            <AdaptationSet mimeType="video/mp4"><ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/>
              <SegmentTemplate duration="4" media="v"/><Representation id="v"/></AdaptationSet>
            <AdaptationSet mimeType="audio/mp4" lang="en"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
              <SegmentTemplate duration="4" media="a"/><Representation id="a" bandwidth="10"/><Representation id="b" bandwidth="20"/>
            </AdaptationSet></Period></MPD>
            """)
        #expect(presentation.renditions.map(\.id) == ["t", "v", "a", "b"])
        #expect(presentation.variants.map(\.video) == ["v"])
        #expect(presentation.variants[0].audio == "b")
        #expect(presentation.variants[0].audioOptions == ["a", "b"])
        #expect(presentation.rendition("v")?.encryption?.method == "cenc")
        #expect(presentation.rendition("v")?.unsupportedReason()?.contains("cenc") == true)
        #expect(presentation.warnings.contains { $0.message.contains("urn:x") })
    }

    @Test("A live period without an end has no segments yet; an empty timeline is taken")
    func live() throws {
        let presentation = try parse(
            """
            <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z"><Period start="PT0S">
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="4" media="$Number$"/><Representation id="v"/>
            </AdaptationSet><AdaptationSet mimeType="audio/mp4"><SegmentTemplate media="$Time$"><SegmentTimeline/>
            </SegmentTemplate><Representation id="a"/></AdaptationSet></Period></MPD>
            """)
        #expect(presentation.isLive)
        #expect(presentation.renditions.map { $0.timeline?.segments.count } == [0, 0])
        #expect(presentation.duration == nil)
    }

    @Test("Errors name the line, the element and the section")
    func errors() {
        guard
            case .dash(2, "SegmentTemplate", _, "5.3.9.2.2") = error(
                "<MPD><Period><AdaptationSet>\n<SegmentTemplate timescale=\"0\"/></AdaptationSet></Period></MPD>")
        else {
            Issue.record("timescale 0")
            return
        }
        guard
            case .dash(3, "S", _, "5.3.9.6.2") = error(
                "<MPD><Period>\n<SegmentTemplate><SegmentTimeline>\n<S d=\"0\" r=\"-1\"/></SegmentTimeline></SegmentTemplate></Period></MPD>"
            )
        else {
            Issue.record("duration 0")
            return
        }
        guard case .dash(1, "MPD", _, "5.3.1.2") = error("<MPD/>") else {
            Issue.record("no period")
            return
        }
        guard case .notWellFormed(2, _) = error("<MPD>\n<Period></MPD>") else {
            Issue.record("wrong nesting")
            return
        }
        #expect(error("<html/>") == .unrecognized(beginning: "<html"))
        #expect(error("<!DOCTYPE html><html/>") == .unrecognized(beginning: "<!DOCTYPE html"))
        #expect(
            error(
                "<MPD mediaPresentationDuration=\"PT9S\"><Period><AdaptationSet><SegmentTemplate media=\"$Time$\"><SegmentTimeline>"
                    + "<S d=\"9223372036854775807\" r=\"3\"/></SegmentTimeline></SegmentTemplate><Representation id=\"v\"/>"
                    + "</AdaptationSet></Period></MPD>") != nil)
    }

    @Test("Entities, depth, attributes and elements are bounded")
    func bounds() {
        guard case .notWellFormed = error("<!DOCTYPE MPD [<!ENTITY a \"b\">]><MPD><Period/></MPD>") else {
            Issue.record("a document type was taken")
            return
        }
        let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
        #expect(error("<MPD>\(deep)<Period/></MPD>") == .tooLarge(what: "levels of elements", limit: 32))
        // In one tag, libxml2's time would grow with the square of these.
        let attributes = (0..<200_000).map { "a\($0)='>'" }.joined(separator: " ")
        #expect(error("<MPD \(attributes)><Period/></MPD>") == .tooLarge(what: "attributes of an element", limit: 64))
        let many = String(repeating: "<a/>", count: 100_001)
        #expect(error("<MPD><Period/>\(many)</MPD>") == .tooLarge(what: "elements", limit: 100_000))
        let comments = "<!-- " + String(repeating: "a='b' ", count: 1000) + " -->"
        #expect(error("<MPD>\(comments)<Period/></MPD>") == nil)
    }

    @Test(
        "Templates: identifiers, widths, escapes, and what isn't known stays",
        arguments: [
            ("$RepresentationID$-$Bandwidth$-$Number$-$Time$", "r-5-7-9"), ("$Number%05d$", "00007"),
            ("$Time%03d$$Number$", "0097"), ("$$$Number$$$", "$7$"), ("$Unknown$-$Number$", "$Unknown$-7"),
            ("a$b", "a$b"), ("$RepresentationID%04d$", "r"), ("$Number%0x$", "7"), ("$Number%d$", "7"), ("", ""),
            ("$Number%03d$", "007"), ("$SubNumber$", "1"),
        ])
    func templates(_ text: String, _ expected: String) {
        let template = DASHTemplate(text, representationID: "r", bandwidth: 5)
        #expect(template.expanded(number: 7, time: 9) == expected)
    }

    @Test("A width can't ask for more than 64 digits")
    func width() {
        let template = DASHTemplate("$Number%0999999999d$", representationID: nil, bandwidth: nil)
        #expect(template.expanded(number: 7, time: 0) == String(repeating: "0", count: 63) + "7")
    }

    @Test("Bytes that are no UTF-8 are refused, whatever encoding is declared")
    func encoding() {
        let bytes = Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><MPD><Period id=\"".utf8) + [0xE9]
        #expect(throws: ManifestError.notUTF8(byteOffset: bytes.count - 1)) {
            try DASHManifest.parse(bytes + Array("\"/></MPD>".utf8), url: "")
        }
    }

    @Test("Timelines that hundreds of representations inherit are worked out once, and bounded where they differ")
    func sharedTimelines() throws {
        func text(_ representation: (Int) -> String) -> String {
            let entries = (0..<4_000).map { "<S t=\"\($0 * 10)\" d=\"\(1 + $0 % 7)\"/>" }.joined()
            return "<MPD mediaPresentationDuration=\"PT9999999S\"><Period><AdaptationSet mimeType=\"video/mp4\">"
                + "<SegmentTemplate media=\"$Time$\"><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"
                + (0..<400).map(representation).joined() + "</AdaptationSet></Period></MPD>"
        }
        let presentation = try parse(text { "<Representation id=\"\($0)\"/>" })
        #expect(presentation.renditions.count == 400)
        #expect(presentation.renditions.last?.timeline?.segments.count == 4_000)
        #expect(
            error(text { "<Representation><SegmentTemplate startNumber=\"\($0)\"/></Representation>" })
                == .tooLarge(what: "spans of segment timelines", limit: ManifestLimits.timelineRunCount))
    }
}
