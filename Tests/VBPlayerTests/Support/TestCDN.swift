import Foundation
import Glibc
import Synchronization

/// A real nginx on a free loopback port, in front of short streams that ffmpeg makes once per process.
final class TestCDN: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Whether both programs are there; tests are skipped, and say so, where they aren't.
    static let isAvailable = ["nginx", "ffmpeg"].allSatisfy { path(of: $0) != nil }

    let port: UInt16
    private let process: UncheckedProcess
    private let folder: URL

    private struct UncheckedProcess: @unchecked Sendable { let process: Process }  // Used by `deinit` alone.

    /// The address of a file of the streams: `hls-fmp4/master.m3u8`, `hls-ts/master.m3u8`, `dash/manifest.mpd`.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The streams' length in seconds.
    static let duration = 4.0
    static let framesPerSecond = 25.0

    /// - Parameter defaultPortOf: A loopback address on whose port 80 nginx listens too.
    init(defaultPortOf address: String? = nil) async throws {
        let root = try await Self.streams.value
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("vbplayer-cdn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        port = try freePort()
        let configuration = """
            worker_processes 1; daemon off; master_process off; error_log \(folder.path)/error.log; pid \(folder.path)/pid;
            events { worker_connections 256; }
            http {
              access_log \(folder.path)/access.log;
              client_body_temp_path \(folder.path)/a; proxy_temp_path \(folder.path)/b; fastcgi_temp_path \(folder.path)/c;
              uwsgi_temp_path \(folder.path)/d; scgi_temp_path \(folder.path)/e;
              types { application/vnd.apple.mpegurl m3u8; application/dash+xml mpd; video/mp4 m4s mp4; video/mp2t ts; }
              server {
                listen 127.0.0.1:\(port);
                \(address.map { "listen \($0):80;" } ?? "")
                location /slow/ { alias \(root.path)/; limit_rate 60k; }
                location / { root \(root.path); }
              }
            }
            """
        try configuration.write(to: folder.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path(of: "nginx") ?? "nginx")
        process.arguments = ["-p", folder.path, "-c", folder.path + "/nginx.conf", "-e", folder.path + "/error.log"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = UncheckedProcess(process: process)
        for _ in 0..<200 where !answers(port) { try await Task.sleep(for: .milliseconds(20)) }
        guard answers(port) else { throw Failure(description: "nginx did not start") }
    }

    deinit {
        // A child inherits the blocked signals of the thread that made it: only this one gets through.
        kill(process.process.processIdentifier, SIGKILL)
        process.process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The folder that is served.
    static func folder() async throws -> URL { try await streams.value }

    /// A file of the streams.
    static func data(_ path: String) async throws -> Data {
        try Data(contentsOf: try await streams.value.appendingPathComponent(path))
    }

    /// Made once; the folder is removed when the process ends.
    private static let streams = Task {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vbplayer-streams-\(getpid())")
        for name in ["hls-fmp4", "hls-ts", "dash"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        streamsFolder.withLock { $0 = folder.path }
        atexit {
            streamsFolder.withLock { path in
                if let path { try? FileManager.default.removeItem(atPath: path) }
            }
        }
        let input = [
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=4", "-f", "lavfi", "-i",
            "sine=frequency=440:sample_rate=48000:duration=4",
        ]
        let codecs = [
            "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-keyint_min", "25", "-sc_threshold", "0",
            "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k",
        ]
        try ffmpeg(input + codecs + ["-movflags", "+faststart", folder.path + "/first.mp4"])
        let source = ["-i", folder.path + "/first.mp4", "-c", "copy"]
        try ffmpeg(source + [folder.path + "/last.mp4"])
        try ffmpeg(
            source + ["-movflags", "+frag_keyframe+empty_moov+default_base_moof", folder.path + "/fragmented.mp4"])
        try ffmpeg(
            source + [
                "-map", "0:v", "-movflags", "+frag_keyframe+empty_moov+default_base_moof", folder.path + "/video.mp4",
            ])
        try ffmpeg(
            source + [
                "-map", "0:a", "-movflags", "+empty_moov+default_base_moof", "-frag_duration", "1000000",
                folder.path + "/audio.mp4",
            ])
        let hls = ["-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-master_pl_name", "master.m3u8"]
        try ffmpeg(source + hls + ["-hls_segment_type", "fmp4", "media.m3u8"], in: folder.path + "/hls-fmp4")
        try ffmpeg(source + hls + ["-hls_segment_type", "mpegts", "media.m3u8"], in: folder.path + "/hls-ts")
        try ffmpeg(source + ["-f", "dash", "-seg_duration", "1", "manifest.mpd"], in: folder.path + "/dash")
        return folder
    }

    private static func ffmpeg(_ arguments: [String], in folder: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path(of: "ffmpeg") ?? "ffmpeg")
        process.arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "ffmpeg \(arguments) failed") }
    }

    private static func path(of program: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin"].map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// The folder to remove at the end, for a C function that captures nothing.
private let streamsFolder = Mutex<String?>(nil)

/// A loopback port that nobody listens on.
func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard bound else { throw TestCDN.Failure(description: "no free port") }
    return UInt16(bigEndian: address.sin_port)
}

/// Whether something listens on a loopback port.
private func answers(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
