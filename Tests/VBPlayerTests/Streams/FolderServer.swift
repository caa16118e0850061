import Foundation
import TestSupport

/// A real nginx on a free loopback port in front of a folder.
final class FolderServer: Sendable {
    private let port: UInt16
    private let process: ChildProcess
    private let folder: TestFolder

    /// Whether nginx is there.
    static let isAvailable = Programs.installed("nginx") != nil

    /// The address of a file of the folder.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// Serves the files below `root`; those below `slow/` come at 60 kB/s.
    init(root: String) async throws {
        folder = try TestFolder("vbplayer-server")
        let (path, folder) = (folder.path, folder)
        (port, process) = try await LoopbackPort.serve { port in
            try folder.write(
                """
                worker_processes 1; daemon off; master_process off; error_log \(path)/error.log; pid \(path)/pid;
                events { worker_connections 256; }
                http {
                  access_log \(path)/access.log;
                  client_body_temp_path \(path)/a; proxy_temp_path \(path)/b; fastcgi_temp_path \(path)/c;
                  uwsgi_temp_path \(path)/d; scgi_temp_path \(path)/e;
                  server {
                    listen 127.0.0.1:\(port);
                    location /slow/ { alias \(root)/; limit_rate 60k; }
                    location / { root \(root); }
                  }
                }
                """, to: "nginx.conf")
            return try await ChildProcess.start(
                Programs.installed("nginx") ?? "nginx",
                ["-p", path, "-c", path + "/nginx.conf", "-e", path + "/error.log"])
        }
    }

    /// The paths asked for so far, in order.
    var requests: [String] {
        let text = (try? String(contentsOf: folder.url.appending(path: "access.log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            line.split(separator: "\"").dropFirst().first?.split(separator: " ").dropFirst().first.map(String.init)
        }
    }
}
