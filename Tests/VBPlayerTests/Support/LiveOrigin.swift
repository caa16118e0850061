import Foundation
import TestSupport

/// A real live origin: ffmpeg writes segments of a second in real time into the folder of an nginx.
final class LiveOrigin: Sendable {
    /// What the encoder writes.
    enum Kind: String, CaseIterable, Sendable {
        case hls
        /// A SegmentTimeline.
        case dash
        /// Numbers and a duration: segments come by the clock.
        case dashNumbers
    }

    static let isAvailable = TestCDN.isAvailable

    let kind: Kind
    private let port: UInt16
    private let server: ChildProcess
    private let folder: TestFolder

    /// The manifest's address.
    var url: String { "http://127.0.0.1:\(port)/\(name)" }

    private var name: String { kind == .hls ? "m.m3u8" : "m.mpd" }

    init(_ kind: Kind) async throws {
        self.kind = kind
        folder = try TestFolder("live-origin")
        let folder = folder
        try folder.write("", to: "root/empty")
        (port, server) = try await LoopbackPort.serve { port in
            try folder.write(
                """
                daemon off; master_process off; pid nginx.pid; error_log error.log;
                events { worker_connections 256; }
                http {
                  access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
                  uwsgi_temp_path t4; scgi_temp_path t5;
                  types { application/vnd.apple.mpegurl m3u8; application/dash+xml mpd; }
                  server { listen 127.0.0.1:\(port); root root; add_header Cache-Control no-store; }
                }
                """, to: "nginx.conf")
            return try await ChildProcess.start(
                Programs.installed("nginx") ?? "nginx",
                ["-p", folder.path, "-c", "nginx.conf", "-e", folder.path("error.log")])
        }
    }

    /// Starts an encoder and waits for so many segments to be listed.
    ///
    /// - Parameter seconds: How much it encodes; then it marks the end.
    func encode(seconds: Int, waitingFor segments: Int = 6) async throws -> ChildProcess {
        var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
        for source in ["testsrc2=size=160x90:rate=25", "sine=frequency=440:sample_rate=48000"] {
            arguments += ["-re", "-f", "lavfi", "-i", source]
        }
        arguments += ["-t", "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
        arguments += ["-g", "25", "-keyint_min", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac"]
        switch kind {
        case .hls:
            arguments += ["-f", "hls", "-hls_time", "1", "-hls_list_size", "12"]
            arguments += ["-hls_flags", "delete_segments+program_date_time+temp_file"]
        case .dash, .dashNumbers:
            arguments += ["-f", "dash", "-seg_duration", "1", "-window_size", "12", "-extra_window_size", "6"]
            arguments += ["-use_timeline", kind == .dash ? "1" : "0", "-use_template", "1"]
        }
        try? FileManager.default.removeItem(at: folder.url.appending(path: "root/\(name)"))
        let encoder = try await ChildProcess.start(
            Programs.installed("ffmpeg") ?? "ffmpeg", arguments + [folder.path("root/\(name)")])
        let deadline = ContinuousClock.now + .seconds(60)
        while listedCount < segments, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(50)) }
        return encoder
    }

    /// The segments that there are by now.
    private var listedCount: Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("root"))) ?? []
        guard FileManager.default.fileExists(atPath: folder.path("root/\(name)")) else { return 0 }
        return files.count { $0.hasSuffix(".ts") || $0.hasPrefix("chunk-stream0") && $0.hasSuffix(".m4s") }
    }

    /// Removes what an encoder wrote: the next one begins under the same names.
    func clear() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path("root")) {
            try FileManager.default.removeItem(atPath: folder.path("root/\(file)"))
        }
    }
}
