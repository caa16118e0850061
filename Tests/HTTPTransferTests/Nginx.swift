import CoreModel
import EventLoop
import Foundation

/// A real nginx with a certificate of a new authority, in a folder of its own; both go with this process.
final class Nginx: @unchecked Sendable {  // All is constant after `init`.
    static let executable = "/usr/sbin/nginx"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: executable) }

    let folder: URL
    let plainPort: Int
    let securePort: Int
    private let process = Process()
    private let lifeline = Pipe()

    /// The authority's certificate.
    var certificateFile: String { folder.appending(path: "ca.pem").path }

    /// Starts the server.
    ///
    /// - Parameter files: Contents by name.
    init(files: [String: [UInt8]]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "http-test-\(UUID().uuidString)")
        plainPort = try Self.freePort()
        securePort = try Self.freePort()
        let root = folder.appending(path: "root")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for (name, bytes) in files { try Data(bytes).write(to: root.appending(path: name)) }
        try makeCertificates()
        try configuration.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        // The shell ends the server when this process closes its end of the pipe, however that comes. With SIGKILL,
        // because the threads of tests have most other signals blocked and their children inherit that.
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\"$1\" -p \"$2\" -c nginx.conf & child=$!; read -r _; kill -9 $child; wait; rm -rf \"$2\"",
            "sh", Self.executable, folder.path,
        ]
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try waitUntilReady()
    }

    func plain(_ path: String) -> String { "http://127.0.0.1:\(plainPort)/\(path)" }
    func secure(_ path: String) -> String { "https://127.0.0.1:\(securePort)/\(path)" }

    private var configuration: String {
        """
        daemon off; master_process off; pid nginx.pid; error_log error.log;
        events { worker_connections 256; }
        http {
          access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
          uwsgi_temp_path t4; scgi_temp_path t5;
          types { application/vnd.apple.mpegurl m3u8; }
          gzip_types application/vnd.apple.mpegurl;
          server {
            listen 127.0.0.1:\(plainPort);
            listen 127.0.0.1:\(securePort) ssl http2;
            ssl_certificate server.pem; ssl_certificate_key server.key;
            root root;
            gzip on; gzip_min_length 10;
            location /protocol { return 200 "$server_protocol"; }
            location /connection { return 200 "$connection"; }
            location /cookie { add_header Set-Cookie "id=42"; return 200 "$cookie_id"; }
            location /user-agent { return 200 "$http_user_agent"; }
            location /empty { return 200 ""; }
            location /once { return 302 /protocol; }
            location /loop { return 302 /loop; }
            location /down { return 302 http://127.0.0.1:\(plainPort)/protocol; }
            location /up { return 302 https://127.0.0.1:\(securePort)/protocol; }
            location /file-url { return 302 file:///etc/passwd; }
          }
        }
        """
    }

    private func makeCertificates() throws {
        try openSSL(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
        try openSSL(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=server",
            "-keyout", "server.key", "-out", "server.csr")
        try "subjectAltName=IP:127.0.0.1".write(
            to: folder.appending(path: "names"), atomically: true, encoding: .utf8)
        try openSSL(
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.pem")
    }

    private func openSSL(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure.openSSL(arguments) }
    }

    private func waitUntilReady() throws {
        for _ in 0..<500 {
            guard process.isRunning else { break }
            if Self.connects(to: securePort), Self.connects(to: plainPort) { return }
            usleep(20_000)
        }
        throw Failure.notReady
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func connects(to port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure.notReady }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    enum Failure: Error {
        case openSSL([String])
        case notReady
    }
}
