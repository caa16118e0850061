import Foundation
import TestSupport

/// A real nginx on a free loopback port, in front of short streams that ffmpeg makes once per process.
final class TestCDN: Sendable {
    /// Whether both programs are there; tests are skipped, and say so, where they aren't.
    static let isAvailable = ["nginx", "ffmpeg"].allSatisfy { Programs.installed($0) != nil }

    let port: UInt16
    private let process: ChildProcess
    private let folder: TestFolder

    /// The address of a file of the streams: `hls-fmp4/master.m3u8`, `hls-ts/master.m3u8`, `dash/manifest.mpd`.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The streams' length in seconds; `long/manifest.mpd`, two minutes of video alone, does not end behind the back of
    /// a test that a busy machine keeps waiting.
    static let duration = 4.0
    static let framesPerSecond = 25.0

    /// - Parameter defaultPortOf: A loopback address on whose port 80 nginx listens too.
    init(defaultPortOf address: String? = nil) async throws {
        let root = try await Self.folder()
        folder = try TestFolder("vbplayer-cdn")
        let (path, folder) = (folder.url.path, folder)
        (port, process) = try await LoopbackPort.serve { port in
            try folder.write(
                Self.configuration(path: path, root: root.path, port: port, address: address), to: "nginx.conf")
            return try await ChildProcess.start(
                Programs.installed("nginx") ?? "nginx",
                ["-p", path, "-c", path + "/nginx.conf", "-e", path + "/error.log"])
        }
    }

    private static func configuration(path: String, root: String, port: UInt16, address: String?) -> String {
        """
        worker_processes 1; daemon off; master_process off; error_log \(path)/error.log; pid \(path)/pid;
        events { worker_connections 256; }
        http {
          access_log \(path)/access.log;
          client_body_temp_path \(path)/a; proxy_temp_path \(path)/b; fastcgi_temp_path \(path)/c;
          uwsgi_temp_path \(path)/d; scgi_temp_path \(path)/e;
          types { application/vnd.apple.mpegurl m3u8; application/dash+xml mpd; video/mp4 m4s mp4; video/mp2t ts; }
          server {
            listen 127.0.0.1:\(port);
            \(address.map { "listen \($0):80;" } ?? "")
            location /slow/ { alias \(root)/; limit_rate 60k; }
            location / { root \(root); }
          }
        }
        """
    }

    /// The folder that is served.
    static func folder() async throws -> URL { try await streams.value.url }

    /// A file of the streams.
    static func data(_ path: String) async throws -> Data {
        try Data(contentsOf: try await folder().appending(path: path))
    }

    /// Made once; the folder is removed when the process ends.
    private static let streams = Task {
        let streams = try TestFolder("vbplayer-streams")
        let folder = streams.url
        for name in ["hls-fmp4", "hls-ts", "dash", "long"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        let input = [
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=4", "-f", "lavfi", "-i",
            "sine=frequency=440:sample_rate=48000:duration=4",
        ]
        let codecs = [
            "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-keyint_min", "25", "-sc_threshold", "0",
            "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k",
        ]
        try await ffmpeg(input + codecs + ["-movflags", "+faststart", folder.path + "/first.mp4"])
        let source = ["-i", folder.path + "/first.mp4", "-c", "copy"]
        try await ffmpeg(source + [folder.path + "/last.mp4"])
        try await ffmpeg(
            source + ["-movflags", "+frag_keyframe+empty_moov+default_base_moof", folder.path + "/fragmented.mp4"])
        try await ffmpeg(
            source + [
                "-map", "0:v", "-movflags", "+frag_keyframe+empty_moov+default_base_moof", folder.path + "/video.mp4",
            ])
        try await ffmpeg(
            source + [
                "-map", "0:a", "-movflags", "+empty_moov+default_base_moof", "-frag_duration", "1000000",
                folder.path + "/audio.mp4",
            ])
        let hls = ["-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-master_pl_name", "master.m3u8"]
        try await ffmpeg(source + hls + ["-hls_segment_type", "fmp4", "media.m3u8"], in: folder.path + "/hls-fmp4")
        try await ffmpeg(source + hls + ["-hls_segment_type", "mpegts", "media.m3u8"], in: folder.path + "/hls-ts")
        try await ffmpeg(source + ["-f", "dash", "-seg_duration", "1", "manifest.mpd"], in: folder.path + "/dash")
        try await ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=10:duration=120", "-c:v", "libx264", "-preset",
                "ultrafast", "-g", "10", "-pix_fmt", "yuv420p", "-f", "dash", "-seg_duration", "1", "manifest.mpd",
            ], in: folder.path + "/long")
        return streams
    }

    private static func ffmpeg(_ arguments: [String], in folder: String? = nil) async throws {
        try await ChildProcess.output(
            "ffmpeg", ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments, in: folder)
    }
}
