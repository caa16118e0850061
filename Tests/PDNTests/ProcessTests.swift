import CoreModel
import Cryptography
import Foundation
import Integrity
import Testing

/// `pdn` as it was built with the tests.
enum BuiltTool {
    /// Where it is; `nil` when it is not beside the tests.
    static let url: URL? = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let tool = folder.appendingPathComponent("pdn")
        return FileManager.default.isExecutableFile(atPath: tool.path) ? tool : nil
    }()

    /// Runs it to its end.
    static func call(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
        try Call(arguments).finish()
    }
}

/// A running call with its two streams.
final class Call: Sendable {
    let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = BuiltTool.url
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Waits for the end. What a call prints fits into a pipe.
    func finish() -> (status: Int32, output: String, errors: String) {
        process.waitUntilExit()
        return (
            process.terminationStatus,
            String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self),
            String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        )
    }
}

/// The tool as scripts see it: streams, exit codes and signals.
@Suite(.timeLimit(.minutes(1)), .enabled(if: BuiltTool.url != nil, "the tool is not built beside the tests"))
struct ProcessTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pdn-process-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test func `keygen prints the public key alone, and token a token that it verifies`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let keygen = try Call(["keygen", "--role", "token", "--out", path("key")]).finish()
        #expect(keygen.status == 0 && keygen.errors.isEmpty)
        let key = try #require(VerificationKey(hexadecimal: keygen.output.dropLast()))
        #expect(keygen.output.last == "\n")

        let call = ["token", "--key", path("key"), "--stream", "s", "--viewer", "v", "--expires", "1h"]
        let token = try Call(call).finish()
        #expect(token.status == 0 && token.errors.isEmpty)
        let suite = SystemCryptoSuite()
        let stream = StreamIdentity.stream(named: "s", suite: suite)
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        let parsed = try ViewerToken(text: token.output)
        #expect(throws: Never.self) { try parsed.verify(trusting: [key], stream: stream, now: now, suite: suite) }
        #expect(parsed.viewer == ViewerToken.hash(ofViewer: "v", stream: stream, suite: suite))
        #expect(parsed.sessionLimit == 1 && abs(parsed.expires.seconds - now.seconds - 3600) < 5)
        #expect(parsed.swarmSecret == nil)

        let secrets = try (0..<2).map { _ in try ViewerToken(text: Call(call + ["--secret-swarm"]).finish().output) }
        #expect(secrets[0].swarmSecret != nil && secrets[0].swarmSecret == secrets[1].swarmSecret)
        #expect(secrets[0].nonce != secrets[1].nonce)
    }

    @Test func `Errors go to stderr and leave stdout alone`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for arguments in [["sign"], ["nonsense"], ["token", "--key", "/absent", "--stream", "s", "--viewer", "v"]] {
            let call = try Call(arguments).finish()
            #expect(call.status != 0 && call.output.isEmpty && call.errors.hasPrefix("pdn"))
        }
        let version = try Call(["sign", "--version"]).finish()
        #expect(version.status == 0 && version.output.hasPrefix("pdn sign "))
    }

    @Test func `Interrupted, a signing run ends in order and can go on`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await TestServer(Title.files)
        server.change("/t/audio-4.m4s") { $0.isSilent = true }
        #expect(try Call(["keygen", "--role", "authority", "--out", path("key")]).finish().status == 0)
        let arguments = [
            "sign", "\(server.url)/t/master.m3u8", "--key", path("key"), "--stream", "s", "--out", path("out"),
            "--jobs", "2", "--json",
        ]
        let call = try Call(arguments)
        while true {
            // Eleven segments and the heading: nothing but the silent one is left.
            let journal = (try? String(contentsOfFile: path("out.journal"), encoding: .utf8)) ?? ""
            if journal.split(separator: "\n").count == 12 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        call.process.interrupt()
        let stopped = call.finish()
        #expect(stopped.status == 130 && stopped.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path("out")))

        server.change("/t/audio-4.m4s") { $0.isSilent = false }
        let before = server.requests.count
        let resumed = try Call(arguments).finish()
        #expect(resumed.status == 0)
        #expect(server.requests[before...].filter { $0.hasSuffix(".m4s") } == ["/t/audio-4.m4s"])
        let document = try JSONSerialization.jsonObject(with: Data(resumed.output.utf8)) as? [String: Any]
        #expect(document?["records"] as? Int == 12)
        #expect(document?["downloadedBytes"] as? Int == Title.audio(4).count)
    }
}
