import CoreModel
import Cryptography
import Foundation
import Integrity
import TestSupport
import Testing

/// `pdn` as it was built with the tests.
enum BuiltTool {
    /// Whether it is beside the tests.
    static let isThere = Programs.built("pdn") != nil

    /// Starts a call.
    static func start(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(try #require(Programs.built("pdn")), arguments, keepsErrors: true)
    }

    /// Runs a call to its end.
    static func call(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let outcome = try await start(arguments).finish()
        return (outcome.status, outcome.text, outcome.errorText)
    }
}

/// The tool as scripts see it: streams, exit codes and signals.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltTool.isThere, "the tool is not built beside the tests"))
struct ProcessTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder("pdn-process") }

    private func path(_ name: String) -> String { folder.path(name) }

    @Test func `keygen prints the public key alone, and token a token that it verifies`() async throws {
        let keygen = try await BuiltTool.call(["keygen", "--role", "token", "--out", path("key")])
        #expect(keygen.status == 0 && keygen.errors.isEmpty)
        let key = try #require(VerificationKey(hexadecimal: keygen.output.dropLast()))
        #expect(keygen.output.last == "\n")

        let arguments = ["token", "--key", path("key"), "--stream", "s", "--viewer", "v", "--expires", "1h"]
        let token = try await BuiltTool.call(arguments)
        #expect(token.status == 0 && token.errors.isEmpty)
        let suite = SystemCryptoSuite()
        let stream = StreamIdentity.stream(named: "s", suite: suite)
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        let parsed = try ViewerToken(text: token.output)
        #expect(throws: Never.self) { try parsed.verify(trusting: [key], stream: stream, now: now, suite: suite) }
        #expect(parsed.viewer == ViewerToken.hash(ofViewer: "v", stream: stream, suite: suite))
        #expect(parsed.sessionLimit == 1 && abs(parsed.expires.seconds - now.seconds - 3600) < 5)
        #expect(parsed.swarmSecret == nil)

        var secrets: [ViewerToken] = []
        for _ in 0..<2 {
            secrets.append(try ViewerToken(text: await BuiltTool.call(arguments + ["--secret-swarm"]).output))
        }
        #expect(secrets[0].swarmSecret != nil && secrets[0].swarmSecret == secrets[1].swarmSecret)
        #expect(secrets[0].nonce != secrets[1].nonce)
    }

    @Test func `Errors go to stderr and leave stdout alone`() async throws {
        for arguments in [["sign"], ["nonsense"], ["token", "--key", "/absent", "--stream", "s", "--viewer", "v"]] {
            let call = try await BuiltTool.call(arguments)
            #expect(call.status != 0 && call.output.isEmpty && call.errors.hasPrefix("pdn"))
        }
        let version = try await BuiltTool.call(["sign", "--version"])
        #expect(version.status == 0 && version.output.hasPrefix("pdn sign "))
    }

    @Test func `A viewer that could not begin has its error among the figures`() async throws {
        let play = try await BuiltTool.call([
            "play", "http://127.0.0.1:9/a.mpd", "--headless", "--frame-md5", path("absent/frames"), "--json",
        ])
        #expect(play.status == 1 && play.errors.contains("can't be written"))
        let document = try JSONSerialization.jsonObject(with: Data(play.output.utf8)) as? [String: Any]
        let viewer = try #require((document?["viewers"] as? [[String: Any]])?.first)
        #expect(viewer["id"] as? String == "0" && (viewer["error"] as? String)?.contains("can't be written") == true)
    }

    @Test func `Interrupted, a signing run ends in order and can go on`() async throws {
        let server = try await TestServer(Title.files)
        server.change("/t/audio-4.m4s") { $0.isSilent = true }
        #expect(try await BuiltTool.call(["keygen", "--role", "authority", "--out", path("key")]).status == 0)
        let arguments = [
            "sign", "\(server.url)/t/master.m3u8", "--key", path("key"), "--stream", "s", "--out", path("out"),
            "--jobs", "2", "--json",
        ]
        let signing = try await BuiltTool.start(arguments)
        while true {
            // Eleven segments and the heading: nothing but the silent one is left.
            let journal = (try? String(contentsOfFile: path("out.journal"), encoding: .utf8)) ?? ""
            if journal.split(separator: "\n").count == 12 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        signing.send(SIGINT)
        let stopped = await signing.finish()
        #expect(stopped.status == 130 && stopped.text.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path("out")))

        server.change("/t/audio-4.m4s") { $0.isSilent = false }
        let before = server.requests.count
        let resumed = try await BuiltTool.call(arguments)
        #expect(resumed.status == 0)
        #expect(server.requests[before...].filter { $0.hasSuffix(".m4s") } == ["/t/audio-4.m4s"])
        let document = try JSONSerialization.jsonObject(with: Data(resumed.output.utf8)) as? [String: Any]
        #expect(document?["records"] as? Int == 12)
        #expect(document?["downloadedBytes"] as? Int == Title.audio(4).count)
    }
}
