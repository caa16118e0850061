import CoreModel
import Testing

@testable import Manifest

@Suite struct PresentationTests {
    private func parse(_ text: String, url: String = "https://cdn.example/show/main.mpd?token=1") throws -> Presentation
    {
        try Presentation.parse(Array(text.utf8), url: url)
    }

    @Test("HLS fMP4 with separate audio: renditions, variants, and a timeline after the playlist is loaded")
    func hlsFragmentedMP4() throws {
        var presentation = try parse(
            """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="a/en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=30,AUDIO="a"
            v/360.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2500000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=30,AUDIO="a"
            v/720.m3u8
            """, url: "https://cdn.example/show/main.m3u8")
        #expect(presentation.format == .hls)
        #expect(presentation.renditions.map(\.id) == ["audio-a-en", "360p-900000", "720p-2500000"])
        #expect(presentation.renditions.map(\.kind) == [.audio, .video, .video])
        #expect(presentation.rendition("360p-900000")?.codecs == "avc1.64001f")
        #expect(presentation.variants.map(\.video) == ["360p-900000", "720p-2500000"])
        #expect(presentation.variants.allSatisfy { $0.audio == "audio-a-en" })
        #expect(
            presentation.requirement(for: "720p-2500000") == .playlist(url: "https://cdn.example/show/v/720.m3u8"))
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:5
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:4.004,
            5.m4s
            #EXTINF:3.5,
            #EXT-X-BYTERANGE:1000@200
            6.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="init2.mp4",BYTERANGE="100@0"
            #EXTINF:2,
            7.m4s
            #EXT-X-ENDLIST
            """
        try presentation.load(
            "720p-2500000", bytes: Array(playlist.utf8), finalURL: "https://edge.example/x/720.m3u8?sig=2")
        #expect(presentation.requirement(for: "720p-2500000") == .ready)
        let timeline = try #require(presentation.rendition("720p-2500000")?.timeline)
        #expect(presentation.duration == MediaTime(ticks: 9504, timescale: 1000))
        #expect(!presentation.isLive)
        #expect(timeline.segments.count == 3)
        let second = timeline.segments[1]
        #expect(second.position == SegmentPosition(section: 0, number: 6, byteOffset: 200))
        #expect(second.start == MediaTime(ticks: 4004, timescale: 1000))
        #expect(second.byteRange == 200..<1200)
        #expect(second.url == "https://edge.example/x/6.m4s")
        #expect(second.initialization?.url == "https://edge.example/x/init.mp4")
        let third = timeline.segments[2]
        #expect(third.section == 1)
        #expect(third.start == MediaTime(ticks: 7504, timescale: 1000))
        #expect(third.initialization?.byteRange == 0..<100)
        #expect(third.initialization?.position == SegmentPosition(kind: .initialization, section: 1, number: 0))
        #expect(timeline.index(at: MediaTime(ticks: 4004, timescale: 1000)) == 1)
        #expect(timeline.index(at: MediaTime(seconds: 9)) == 2)
        #expect(timeline.index(at: MediaTime(seconds: 10)) == nil)
    }

    @Test("SegmentTemplate with $Number$: exact count, widths, presentation time offset")
    func dashNumber() throws {
        // 2931.820 s of 179989/90000 s: 1465.9… segments (a Double or a "+ 1" gives 1467).
        let presentation = try parse(
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2931.820S">
              <Period><AdaptationSet mimeType="video/mp4">
                <SegmentTemplate timescale="90000" duration="179989" initialization="$RepresentationID$/i.mp4"
                  media="$RepresentationID$/$Bandwidth$-$Number%05d$$$.m4s" startNumber="7"/>
                <Representation id="v" bandwidth="1000" codecs="avc1.64001f" width="640" height="360" frameRate="30000/1001"/>
              </AdaptationSet></Period>
            </MPD>
            """)
        let timeline = try #require(presentation.rendition("v")?.timeline)
        #expect(timeline.segments.count == 1466)
        let last = try #require(timeline.segments.last)
        #expect(last.position.number == 263_683_885)
        #expect(last.url == "https://cdn.example/show/v/1000-01472$.m4s")
        #expect(last.initialization?.url == "https://cdn.example/show/v/i.mp4")
        #expect(timeline.end == MediaTime(ticks: 2_931_820, timescale: 1000))
        #expect(abs((presentation.rendition("v")?.frameRate ?? 0) - 29.97003) < 1e-5)
        #expect(
            presentation.variants == [
                Variant(video: "v", audio: nil, audioOptions: [], textOptions: [], bandwidth: 1000)
            ])
    }

    @Test("SegmentTimeline: period start and presentation time offset shift times, not $Time$")
    func dashTimeline() throws {
        let presentation = try parse(
            """
            <MPD type="static" mediaPresentationDuration="PT40S">
              <Period start="PT30S"><AdaptationSet contentType="video">
                <SegmentTemplate timescale="90000" presentationTimeOffset="900000" media="$Time$.m4s">
                  <SegmentTimeline><S t="900000" d="180000" r="-1"/></SegmentTimeline>
                </SegmentTemplate>
                <Representation id="v" bandwidth="1000"/>
              </AdaptationSet></Period>
            </MPD>
            """)
        let segments = try #require(presentation.rendition("v")?.timeline?.segments)
        #expect(segments.count == 5)
        #expect(segments[0].start == MediaTime(seconds: 30))
        #expect(segments[0].url == "https://cdn.example/show/900000.m4s")
        #expect(segments[0].mediaOffset == MediaTime(seconds: 20))
        #expect(segments[0].position == SegmentPosition(section: 30_000, number: 900_000))
        #expect(segments[4].start == MediaTime(seconds: 38))
        #expect(
            segments[4].presentationWindow
                == PresentationWindow(start: MediaTime(seconds: 30), end: MediaTime(seconds: 40)))
    }
}
