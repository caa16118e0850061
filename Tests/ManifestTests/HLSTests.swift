import CoreModel
import Testing

@testable import Manifest

@Suite struct HLSTests {
    private func media(_ text: String, url: String = "http://h/p/m.m3u8", variables: [String: String] = [:]) throws
        -> HLSMediaPlaylist
    {
        try HLSMediaPlaylist.parse(Array(text.utf8), url: url, variables: variables)
    }

    private func multivariant(_ text: String) throws -> Presentation {
        try Presentation.parse(Array(text.utf8), url: "http://h/p/main.m3u8")
    }

    /// The error of a text that is no playlist.
    private func error(_ text: String) -> ManifestError? {
        do {
            _ = try Presentation.parse(Array(text.utf8), url: "http://h/p/m.m3u8")
            return nil
        } catch { return error }
    }

    @Test("The duration is what stands before the first comma; the comma may be missing")
    func information() throws {
        let playlist = try media(
            "#EXTM3U\r\n#EXTINF:2\r\na\r\n#EXTINF:9.4,2 fast, furious\nb\n#EXTINF: 0 ,\nc")
        #expect(
            playlist.segments.map(\.duration) == [
                MediaTime(seconds: 2), MediaTime(ticks: 94, timescale: 10), .zero,
            ])
        #expect(playlist.segments.map(\.title) == [nil, "2 fast, furious", nil])
        #expect(playlist.segments.map(\.uri) == ["http://h/p/a", "http://h/p/b", "http://h/p/c"])
    }

    @Test("A key between EXTINF and the URI applies to that segment; NONE ends encryption; keys of formats add up")
    func keys() throws {
        let playlist = try media(
            """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:1000
            #EXTINF:2,
            clear
            #EXTINF:2,
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1566B
            a
            #EXT-X-KEY:METHOD=AES-128,URI="k2"
            #EXTINF:2,
            b
            #EXTINF:2,
            c
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            d
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:2,
            e
            """)
        let keys = playlist.segments.map { playlist.keys(of: $0) }
        #expect(keys.map(\.count) == [0, 1, 1, 1, 2, 0])
        #expect(keys[1][0].uri == "http://h/p/k")
        // A short vector is right-aligned.
        #expect(keys[1][0].effectiveInitializationVector(mediaSequence: 1001)?.suffix(4) == [0, 0x01, 0x56, 0x6B])
        // Without one, it is each segment's own media sequence number.
        #expect(keys[2][0].effectiveInitializationVector(mediaSequence: 1002)?.suffix(2) == [0x03, 0xEA])
        #expect(keys[3][0].effectiveInitializationVector(mediaSequence: 1003)?.suffix(2) == [0x03, 0xEB])
        #expect(keys[4][1].effectiveInitializationVector(mediaSequence: 1004) == nil)
    }

    @Test("A range without offset follows the range of the same resource; otherwise it has no place on a timeline")
    func byteRanges() throws {
        let text = """
            #EXTM3U
            #EXTINF:2,
            #EXT-X-BYTERANGE:100@0
            a.ts
            #EXTINF:2,
            #EXT-X-BYTERANGE:50
            a.ts
            """
        let presentation = try Presentation.parse(Array(text.utf8), url: "http://h/p/m.m3u8")
        #expect(presentation.renditions[0].timeline?.segments.map(\.byteRange) == [0..<100, 100..<150])
        let broken = text + "\n#EXTINF:2,\n#EXT-X-BYTERANGE:50\nb.ts\n"
        #expect(try media(broken).segments.last?.byteRange == HLSByteRange(length: 50, offset: nil))
        guard case .hls(10, "#EXT-X-BYTERANGE", _, "4.4.4.2") = error(broken) else {
            Issue.record("\(String(describing: error(broken)))")
            return
        }
    }

    @Test("Discontinuity numbers go on from the sequence tag, also across a reload")
    func discontinuities() throws {
        let first = try media(
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:10\n#EXTINF:2,\na\n#EXT-X-DISCONTINUITY\n#EXTINF:2,\nb\n#EXTINF:2,\nc")
        #expect(first.segments.map(\.discontinuitySequence) == [0, 1, 1])
        let second = try media(
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:11\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n#EXTINF:2,\nb\n#EXTINF:2,\nc")
        #expect(second.segments.map(\.mediaSequence) == [11, 12])
        #expect(second.segments.map(\.discontinuitySequence) == [1, 1])
    }

    @Test("Skipped segments count: the first one listed is behind them")
    func skip() throws {
        let playlist = try media("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:266\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:2,\na")
        #expect(playlist.mediaSequence == 266)
        #expect(playlist.segments.map(\.mediaSequence) == [269])
    }

    @Test("Variables: one pass, imports, and names that must be defined")
    func variables() throws {
        let playlist = try media(
            """
            #EXTM3U
            #EXT-X-DEFINE:NAME="a",VALUE="{$b}x"
            #EXT-X-DEFINE:IMPORT="b"
            #EXT-X-DEFINE:QUERYPARAM="t"
            #EXTINF:2,
            {$a}/{$b}.ts?{$t}
            """, url: "http://h/p/m.m3u8?t=%41", variables: ["b": "B"])
        #expect(playlist.segments[0].uri == "http://h/p/{$b}x/B.ts?A")
        let twice = #"#EXTM3U\#n#EXT-X-DEFINE:NAME="a",VALUE="1"\#n#EXT-X-DEFINE:NAME="a",VALUE="2"\#n#EXTINF:2,\#na"#
        for text in [
            twice, #"#EXTM3U\#n#EXT-X-DEFINE:IMPORT="none"\#n#EXTINF:2,\#na"#,
            #"#EXTM3U\#n#EXT-X-DEFINE:QUERYPARAM="none"\#n#EXTINF:2,\#na"#, "#EXTM3U\n#EXTINF:2,\n{$none}",
        ] {
            guard case .hls = error(text) else {
                Issue.record("taken: \(text)")
                continue
            }
        }
    }

    @Test("Braces that close nothing cost no more than other bytes")
    func unclosedVariables() throws {
        // A megabyte each: looked at once it takes no time, looked through again from each brace minutes.
        for piece in ["{$", "{$a", "{$a{", "{"] {
            let line = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
            #expect(error("#EXTM3U\n#EXTINF:2,\n\(line)") != nil, "\(piece)")
        }
        let playlist = try media(
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXTINF:2,\n{$a{$a}{$}{$a b}{$a}?{$a")
        #expect(playlist.segments.map(\.uri) == ["http://h/p/{$a1{$}{$a b}1?{$a"])
    }

    @Test("Errors name the line, the tag and the section")
    func errors() {
        #expect(error("") == .empty)
        #expect(error("#EXTM4U\n") == .unrecognized(beginning: "#EXTM4U."))
        #expect(error("#EXTM3UX\n#EXTINF:2,\na") == .unrecognized(beginning: "#EXTM3UX.#EXTINF:2,.a"))
        let texts: [(String, Int, String, String)] = [
            ("#EXTM3U\n\n#EXTINF:x,\na", 3, "#EXTINF", "4.4.4.1"),
            ("#EXTM3U\n#EXTINF:-1,\na", 2, "#EXTINF", "4.4.4.1"),
            ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551616\n", 2, "#EXT-X-MEDIA-SEQUENCE", "4.4.3.2"),
            ("#EXTM3U\n#EXT-X-BYTERANGE:1@9223372036854775807\n#EXTINF:1,\na", 2, "#EXT-X-BYTERANGE", "4.4.4.2"),
            ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\na", 2, "#EXT-X-KEY", "4.4.4.4"),
            ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xZZ\n#EXTINF:1,\na", 2, "#EXT-X-KEY", "4.4.4.4"),
            ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"1@0\"\n#EXTINF:1,\na", 2, "#EXT-X-MAP", "4.4.4.5"),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:1,\nb", 4, "#EXTINF", "4.1"),
            ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"x\na", 2, "#EXT-X-STREAM-INF", "4.4.6.2"),
        ]
        for (text, line, tag, section) in texts {
            guard case .hls(line, tag, _, section) = error(text) else {
                Issue.record("\(text): \(String(describing: error(text)))")
                continue
            }
        }
        #expect(
            ManifestError.hls(line: 3, tag: "#EXTINF", problem: "p", section: "4.4.4.1").description
                == "line 3, #EXTINF: p (RFC 8216bis, section 4.4.4.1)")
    }

    @Test("A media sequence number at the end of 64 bits doesn't trap")
    func lastNumber() throws {
        let playlist = try media("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551614\n#EXTINF:1,\na")
        #expect(playlist.segments.map(\.mediaSequence) == [.max - 1])
        #expect(error("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551614\n#EXTINF:1,\na\n#EXTINF:1,\nb") != nil)
    }

    @Test("Variants that share a playlist share a rendition; audio goes by group")
    func groups() throws {
        let presentation = try multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="Deutsch",LANGUAGE="de",URI="lo-de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="lo-en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="hi-en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s-en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="lo",SUBTITLES="s",CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="hi",SUBTITLES="s",CODECS="avc1.42c01e,ec-3",RESOLUTION=640x360
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=100,AUDIO="lo",CODECS="mp4a.40.2"
            lo-en.m3u8
            """)
        #expect(
            presentation.renditions.map(\.id) == [
                "audio-lo-de", "audio-lo-en", "audio-hi-en", "text-s-en", "360p-1000",
            ])
        #expect(presentation.variants.map(\.video) == ["360p-1000", "360p-1000", nil])
        #expect(presentation.variants.map(\.audio) == ["audio-lo-en", "audio-hi-en", "audio-lo-de"])
        #expect(presentation.variants[0].audioOptions == ["audio-lo-de", "audio-lo-en"])
        #expect(presentation.variants[1].textOptions == ["text-s-en"])
    }

    @Test("An audio rendition without a URI is in the variant's own segments")
    func muxedAudio() throws {
        let presentation = try multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Main",DEFAULT=YES
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Comment",URI="c.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a",CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500
            w.m3u8
            """)
        #expect(presentation.rendition("360p-1000")?.kind == .muxed)
        #expect(presentation.variants[0].audio == nil)
        #expect(presentation.variants[0].audioOptions == ["audio-a-Comment"])
        #expect(presentation.rendition("muxed-500")?.kind == .muxed)
    }

    @Test("A multivariant playlist that names itself is refused when its media playlist is loaded")
    func selfReference() throws {
        let bytes = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8".utf8)
        var presentation = try Presentation.parse(bytes, url: "http://h/main.m3u8")
        let id = presentation.renditions[0].id
        #expect(presentation.requirement(for: id) == .playlist(url: "http://h/main.m3u8"))
        #expect(throws: ManifestError.self) { try presentation.load(id, bytes: bytes, finalURL: "http://h/main.m3u8") }
        #expect(throws: ManifestError.unknownRendition("x")) {
            try presentation.load("x", bytes: bytes, finalURL: "http://h/x")
        }
    }

    @Test("Gaps are marked, and names of maps stay when the window of a live playlist moves")
    func gapsAndMaps() throws {
        let text = "#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:2,\n#EXT-X-GAP\na\n#EXTINF:2,\nb"
        let one = try Presentation.parse(Array("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n\(text)".utf8), url: "http://h/m")
        let segments = try #require(one.renditions[0].timeline?.segments)
        #expect(segments.map(\.isGap) == [true, false])
        #expect(one.isLive)
        #expect(one.duration == nil)
        let two = try Presentation.parse(Array("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:8\n\(text)".utf8), url: "http://h/m")
        #expect(
            segments[0].initialization?.position
                == two.renditions[0].timeline?.segments[0].initialization?.position)
    }
}
