import Foundation
import TestSupport

/// The same picture and sound, encoded once and packaged in each way that the engine reads.
struct TestMedia: Sendable {
    /// One rendition's initialisation section and segments.
    struct Rendition: Sendable {
        var initialization: [UInt8]?
        var segments: [[UInt8]]

        var joined: [UInt8] { segments.reduce(initialization ?? []) { $0 + $1 } }
    }

    /// HLS fMP4, video and audio in one.
    let muxedMP4: Rendition
    /// HLS MPEG-TS, video and audio in one.
    let transportStream: Rendition
    /// DASH (CMAF), video and audio apart.
    let video: Rendition
    let audio: Rendition
    /// HLS packed AAC.
    let packedAudio: Rendition
    /// A plain MP4 with the moov at the end, and one with it at the front.
    let fileMoovLast: [UInt8]
    let fileMoovFirst: [UInt8]

    /// Seconds of each segment, and of the whole.
    static let segmentSeconds = 2
    static let seconds = 8
    static let frameRate = 25

    /// Made on first use, for all suites.
    static let shared = Task { try await TestMedia() }

    init() async throws {
        let temporary = try TestFolder("engine-media")
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        let gop = String(Self.segmentSeconds * Self.frameRate)
        try await FFmpegTool.run(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=\(Self.frameRate):duration=\(Self.seconds)",
                "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(Self.seconds)",
                "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", gop, "-keyint_min", gop,
                "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2", "last.mp4",
            ], in: folder)
        let copy = ["-i", "last.mp4", "-c", "copy"]
        let time = String(Self.segmentSeconds)
        try await FFmpegTool.run(copy + ["-movflags", "+faststart", "first.mp4"], in: folder)
        try await FFmpegTool.run(
            copy + [
                "-f", "hls", "-hls_time", time, "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
                "-hls_fmp4_init_filename", "muxed_init.mp4", "-hls_segment_filename", "muxed_%d.m4s", "muxed.m3u8",
            ], in: folder)
        try await FFmpegTool.run(
            copy + [
                "-f", "hls", "-hls_time", time, "-hls_playlist_type", "vod", "-hls_segment_filename", "ts_%d.ts",
                "ts.m3u8",
            ], in: folder)
        try await FFmpegTool.run(
            copy + ["-f", "dash", "-seg_duration", time, "-use_template", "1", "-use_timeline", "1", "dash.mpd"],
            in: folder)
        try await FFmpegTool.run(
            [
                "-i", "last.mp4", "-vn", "-c", "copy", "-f", "hls", "-hls_time", time, "-hls_playlist_type", "vod",
                "-hls_segment_filename", "packed_%d.aac", "packed.m3u8",
            ], in: folder)
        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
        func series(_ initialization: String?, from first: Int, _ name: (Int) -> String) throws -> Rendition {
            var rendition = Rendition(initialization: try initialization.map(bytes), segments: [])
            var number = first
            while FileManager.default.fileExists(atPath: folder.appendingPathComponent(name(number)).path) {
                rendition.segments.append(try bytes(name(number)))
                number += 1
            }
            return rendition
        }
        func padded(_ number: Int) -> String {
            String(repeating: "0", count: 5 - String(number).count) + String(number)
        }
        muxedMP4 = try series("muxed_init.mp4", from: 0) { "muxed_\($0).m4s" }
        transportStream = try series(nil, from: 0) { "ts_\($0).ts" }
        video = try series("init-stream0.m4s", from: 1) { "chunk-stream0-\(padded($0)).m4s" }
        audio = try series("init-stream1.m4s", from: 1) { "chunk-stream1-\(padded($0)).m4s" }
        packedAudio = try series(nil, from: 0) { "packed_\($0).aac" }
        fileMoovLast = try bytes("last.mp4")
        fileMoovFirst = try bytes("first.mp4")
    }

    /// Four seconds of MPEG-TS whose timestamps begin at `time` seconds.
    static func transportStream(startingAt time: String) async throws -> [UInt8] {
        let temporary = try TestFolder("engine-wrap")
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        try await FFmpegTool.run(
            [
                "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=\(frameRate):duration=4",
                "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=4",
                "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "50", "-pix_fmt", "yuv420p",
                "-c:a", "aac", "-output_ts_offset", time, "-f", "mpegts", "wrap.ts",
            ], in: folder)
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent("wrap.ts")))
    }
}
