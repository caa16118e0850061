/// A title in memory: HLS and DASH over the same segments, and HLS by byte ranges of one file.
enum Title {
    static let segmentCount = 5

    /// The bytes of a video segment; 0 is the initialisation section.
    static func video(_ number: Int) -> [UInt8] { videos[number] }

    /// The bytes of an audio segment.
    static func audio(_ number: Int) -> [UInt8] { audios[number] }

    private static let videos = (0...segmentCount).map { pattern($0 == 0 ? 700 : 150_000 + $0 * 10_000, seed: $0) }
    private static let audios = (0...segmentCount).map { pattern($0 == 0 ? 600 : 20_000 + $0, seed: 100 + $0) }

    private static func pattern(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8) &* 7 &+ seed &* 131 &+ ($0 >> 16)) }
    }

    static let files: [String: TestServer.File] = {
        var files: [String: TestServer.File] = [
            "/t/master.m3u8": text(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8?x=1"
                #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
                video.m3u8?x=1
                """),
            "/t/video.m3u8": text(playlist("video")),
            "/t/audio.m3u8": text(playlist("audio")),
            "/t/manifest.mpd": text(
                """
                <?xml version="1.0"?>
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT20S"
                    minBufferTime="PT2S" profiles="urn:mpeg:dash:profile:isoff-live:2011"><Period id="0">
                <AdaptationSet contentType="video" mimeType="video/mp4">
                <SegmentTemplate timescale="1000" duration="4000" startNumber="1" initialization="video-0.m4s"
                    media="video-$Number$.m4s"/>
                <Representation id="v" codecs="avc1.64001f" width="1280" height="720" bandwidth="800000"/>
                </AdaptationSet>
                <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="en">
                <SegmentTemplate timescale="1000" duration="4000" startNumber="1" initialization="audio-0.m4s"
                    media="audio-$Number$.m4s"/>
                <Representation id="a" codecs="mp4a.40.2" bandwidth="100000"/>
                </AdaptationSet></Period></MPD>
                """),
            "/t/ranges.m3u8": text(ranges),
            "/t/all.mp4": TestServer.File(bytes: (0...segmentCount).flatMap { video($0) }),
        ]
        for number in 0...segmentCount {
            files["/t/video-\(number).m4s"] = TestServer.File(bytes: video(number))
            files["/t/audio-\(number).m4s"] = TestServer.File(bytes: audio(number))
        }
        return files
    }()

    private static func text(_ text: String) -> TestServer.File { TestServer.File(bytes: Array(text.utf8)) }

    private static func playlist(_ kind: String) -> String {
        let segments = (1...segmentCount).map { "#EXTINF:4,\n\(kind)-\($0).m4s" }
        return "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            + "#EXT-X-MAP:URI=\"\(kind)-0.m4s\"\n" + segments.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }

    private static var ranges: String {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:4",
            "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"\(video(0).count)@0\"",
        ]
        var offset = video(0).count
        for number in 1...segmentCount {
            lines += ["#EXTINF:4,", "#EXT-X-BYTERANGE:\(video(number).count)@\(offset)", "all.mp4"]
            offset += video(number).count
        }
        return (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }
}
