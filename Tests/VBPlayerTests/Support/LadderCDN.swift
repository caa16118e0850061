import Foundation
import TestSupport

/// A real nginx in front of a stream in three renditions, whose line falls in the midst of it and rises again.
final class LadderCDN: Sendable {
    static let segmentCount = 12
    static let segmentSeconds = 2
    static let framesPerSecond = 25
    /// The segments that come slowly, counted from 0: at ``slowBytesPerSecond`` for each connection, which is above the rate
    /// of the lowest rendition and below that of the others.
    static let slowSegments = 4..<7
    static let slowBytesPerSecond = 40_000
    /// The renditions of ``Form``, the lowest first, as their files are called.
    static let pictureHeights = [90, 144, 180]

    /// How the stream is packed.
    enum Form: String, CaseIterable, Sendable {
        case dash, fragmented, transportStream

        var manifest: String {
            switch self {
            case .dash: "cmaf/manifest.mpd"
            case .fragmented: "cmaf/master.m3u8"
            case .transportStream: "ts/master.m3u8"
            }
        }
    }

    private let port: UInt16
    private let process: ChildProcess
    private let folder: TestFolder

    init() async throws {
        let root = try await Self.streams.value.url.path
        folder = try TestFolder("vbplayer-ladder")
        let (path, folder) = (folder.url.path, folder)
        (port, process) = try await LoopbackPort.serve { port in
            try folder.write(Self.configuration(path: path, root: root, port: port), to: "nginx.conf")
            return try await ChildProcess.start(
                Programs.installed("nginx") ?? "nginx",
                ["-p", path, "-c", path + "/nginx.conf", "-e", path + "/error.log"])
        }
    }

    /// The address of a form's manifest.
    ///
    /// - Parameter isLimited: Whether the line falls.
    func url(_ form: Form, isLimited: Bool = true) -> String {
        "http://127.0.0.1:\(port)/\(isLimited ? "limited/" : "")\(form.manifest)"
    }

    /// The address of a file in ``folder()``.
    func url(path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The folder that is served.
    static func folder() async throws -> URL { try await streams.value.url }

    /// What nginx was asked for, in the order of the answers.
    func requests() throws -> [String] {
        let text = try String(contentsOf: folder.url.appending(path: "access.log"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst(6).first.map(String.init) }
    }

    private static func configuration(path: String, root: String, port: UInt16) -> String {
        // DASH counts from 1.
        let slow = slowSegments.map { "stream.-0*\($0 + 1)\\.m4s|-0*\($0)\\.ts" }.joined(separator: "|")
        return """
            worker_processes 1; daemon off; master_process off; error_log \(path)/error.log; pid \(path)/pid;
            events { worker_connections 256; }
            http {
              access_log \(path)/access.log;
              client_body_temp_path \(path)/a; proxy_temp_path \(path)/b; fastcgi_temp_path \(path)/c;
              uwsgi_temp_path \(path)/d; scgi_temp_path \(path)/e;
              types { application/vnd.apple.mpegurl m3u8; application/dash+xml mpd; video/mp4 m4s mp4; video/mp2t ts; }
              map $uri $rate { default 0; "~(\(slow))$" \(slowBytesPerSecond); }
              server {
                listen 127.0.0.1:\(port);
                location ~ /gone/.*(0-3\\.ts|stream0-00004\\.m4s)$ { return 404; }
                location /gone/ { alias \(root)/; }
                location /limited/ { alias \(root)/; limit_rate $rate; }
                location / { root \(root); }
              }
            }
            """
    }

    /// ffmpeg's decode of a span of segments in one rendition: the size and the hash of each picture.
    ///
    /// - Parameter rung: The rendition, counted from the lowest.
    static func truth(_ form: Form, rung: Int, segments: Range<Int>) async throws -> [String] {
        let root = try await streams.value.url
        // The encoder's outputs begin with the highest.
        let stream = pictureHeights.count - 1 - rung
        var bytes = Data()
        switch form {
        case .dash, .fragmented:
            bytes += try Data(contentsOf: root.appending(path: "cmaf/init-stream\(stream).m4s"))
            for index in segments {
                let number = String(index + 100_001).dropFirst()
                bytes += try Data(contentsOf: root.appending(path: "cmaf/chunk-stream\(stream)-\(number).m4s"))
            }
        case .transportStream:
            for index in segments { bytes += try Data(contentsOf: root.appending(path: "ts/\(stream)-\(index).ts")) }
        }
        let file = try TestFolder("vbplayer-truth")
        try bytes.write(to: file.url.appending(path: "run"))
        let output = try await ChildProcess.output(
            "ffmpeg",
            [
                "-nostdin", "-hide_banner", "-loglevel", "error", "-i", file.path("run"), "-map", "0:v:0",
                "-fps_mode", "passthrough", "-f", "framemd5", "-",
            ])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { sizeAndHash(String($0)) }
    }

    /// The last two columns of a line of `framemd5`.
    static func sizeAndHash(_ line: String) -> String {
        line.split(separator: ",").suffix(2).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }

    /// Made once; the folder is removed when the process ends.
    private static let streams = Task {
        let streams = try TestFolder("vbplayer-ladder-streams")
        let root = streams.url.path
        for name in ["cmaf", "ts"] {
            try FileManager.default.createDirectory(atPath: root + "/" + name, withIntermediateDirectories: true)
        }
        // The noise makes the encoder spend its bits.
        let source = "testsrc2=size=320x180:rate=25,noise=alls=20:allf=t:all_seed=7,format=yuv420p"
        try await ffmpeg(
            [
                "-f", "lavfi", "-i", source, "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000",
                "-t", "\(segmentCount * segmentSeconds)", "-filter_complex",
                "[0:v]split=3[a][b][c];[b]scale=256:144[b1];[c]scale=160:90[c1]",
                "-map", "[a]", "-map", "[b1]", "-map", "[c1]", "-map", "1:a",
                "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "50", "-keyint_min", "50",
                "-sc_threshold", "0",
                "-b:v:0", "1200k", "-maxrate:v:0", "1300k", "-bufsize:v:0", "1200k",
                "-b:v:1", "600k", "-maxrate:v:1", "650k", "-bufsize:v:1", "600k",
                "-b:v:2", "120k", "-maxrate:v:2", "130k", "-bufsize:v:2", "120k",
                "-video_track_timescale", "90000", "-c:a", "aac", "-b:a", "48k", "-ac", "1", "all.mp4",
            ], in: root)
        try await ffmpeg(
            [
                "-i", root + "/all.mp4", "-map", "0", "-c", "copy", "-f", "dash", "-seg_duration", "\(segmentSeconds)",
                "-hls_playlist", "1", "-adaptation_sets", "id=0,streams=v id=1,streams=a", "manifest.mpd",
            ], in: root + "/cmaf")
        try await ffmpeg(
            [
                "-i", root + "/all.mp4", "-map", "0:v:0", "-map", "0:a", "-map", "0:v:1", "-map", "0:a", "-map",
                "0:v:2", "-map", "0:a", "-c", "copy", "-f", "hls", "-hls_time", "\(segmentSeconds)",
                "-hls_playlist_type", "vod",
                "-hls_segment_type", "mpegts", "-hls_segment_filename", "%v-%d.ts", "-master_pl_name", "master.m3u8",
                "-var_stream_map", "v:0,a:0 v:1,a:1 v:2,a:2", "%v.m3u8",
            ], in: root + "/ts")
        // What a rendition calls its segments says nothing of those of another.
        let lowest = streams.url.appending(path: "ts/2.m3u8")
        let text = try String(contentsOf: lowest, encoding: .utf8)
        try text.replacing("#EXT-X-MEDIA-SEQUENCE:0\n", with: "#EXT-X-MEDIA-SEQUENCE:4\n")
            .write(to: lowest, atomically: true, encoding: .utf8)
        return streams
    }

    private static func ffmpeg(_ arguments: [String], in folder: String) async throws {
        try await ChildProcess.output(
            "ffmpeg", ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments, in: folder)
    }
}
