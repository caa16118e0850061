import TestSupport

/// A real nginx with a certificate of a new authority, in a folder of its own; both go with this process.
final class Nginx: Sendable {
    static let executable = Programs.installed("nginx")

    let plainPort: UInt16
    let securePort: UInt16
    private let folder: TestFolder
    private let process: ChildProcess

    /// The authority's certificate.
    var certificateFile: String { folder.path("ca.pem") }

    /// Starts the server.
    ///
    /// - Parameter files: Contents by name.
    init(files: [String: [UInt8]]) async throws {
        folder = try TestFolder("http-test")
        plainPort = try LoopbackPort.free()
        securePort = try LoopbackPort.free()
        try folder.write(Self.configuration(plainPort, securePort), to: "nginx.conf")
        for (name, bytes) in files { try folder.write(bytes, to: "root/\(name)") }
        try await Self.makeCertificates(in: folder)
        process = try await ChildProcess.start(
            Self.executable ?? "nginx", ["-p", folder.path, "-c", "nginx.conf", "-e", folder.path("error.log")])
        try await LoopbackPort.waitForListener(securePort, of: process)
        try await LoopbackPort.waitForListener(plainPort, of: process)
    }

    func plain(_ path: String) -> String { "http://127.0.0.1:\(plainPort)/\(path)" }
    func secure(_ path: String) -> String { "https://127.0.0.1:\(securePort)/\(path)" }

    private static func configuration(_ plainPort: UInt16, _ securePort: UInt16) -> String {
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

    private static func makeCertificates(in folder: TestFolder) async throws {
        func openSSL(_ arguments: String...) async throws {
            try await ChildProcess.output("openssl", arguments, in: folder.path)
        }
        try await openSSL(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
        try await openSSL(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=server",
            "-keyout", "server.key", "-out", "server.csr")
        try folder.write("subjectAltName=IP:127.0.0.1", to: "names")
        try await openSSL(
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.pem")
    }
}
