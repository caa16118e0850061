import CommandLineSupport
import CoreModel
import Delivery
import Foundation
import Testing
import VBPlayer

@testable import pdn

/// The options that `pdn play` and `pdn swarm` share.
struct ViewerOptionsTests {
    private static let key = String(repeating: "ab", count: 32)

    private func arguments(_ words: [String]) throws -> CommandArguments {
        let result = try CommandParser.parse(words + ["http://h/a.mpd"], for: PlayCommand.specification)
        guard case .run(let arguments) = result else { throw CommandFailure.usage("no run") }
        return arguments
    }

    private func configuration(_ words: [String]) throws -> SessionConfiguration {
        try ViewerOptions.configuration(arguments(words), url: "http://h/a.mpd")
    }

    @Test func `Any setting of the library can be set, and counts after the option`() throws {
        let session = try configuration([
            "--pdn", "on", "--tracker", "ws://a", "--uplink", "5Mbps", "--audio", "en", "--set", "tracker=udp://b:1",
            "--set", "upload-cap=600kbps", "--set=memory-limit=64MiB", "--set", "listen-port=4000", "--set",
            "lan-only=on", "--set", "audio=de", "--set", "stream=a=b", "--trust", Self.key, "--set",
            "required-signatures=2", "--subtitles", "pt-BR",
        ])
        #expect(session.usesPeers && session.trackerURLs == ["ws://a", "udp://b:1"])
        #expect(session.uploadBitsPerSecond == 600_000 && session.storeByteCount == 64 << 20)
        #expect(session.listenAddress.port == 4000 && session.isLocalOnly && session.audioLanguage == "de")
        #expect(session.streamName == "a=b" && session.requiredSignatures == 2)
        #expect(session.trustedKeys.map(\.description) == [Self.key] && session.subtitleLanguage == "pt-BR")
    }

    @Test func `Without options the defaults are those of the library`() throws {
        let session = try configuration([])
        #expect(!session.usesPeers && session.trackerURLs.isEmpty && session.uploadBitsPerSecond == nil)
        #expect(session.subtitleLanguage == nil && session.storeByteCount == 128 << 20)
        #expect(session.diskByteCount == 512 << 20)
    }

    struct Fault: CustomTestStringConvertible {
        var words: [String]
        /// What the message names.
        var name: String
        var testDescription: String { words.joined(separator: " ") }
    }

    static let faults: [Fault] = [
        Fault(words: ["--set", "speed=3"], name: "speed"),
        Fault(words: ["--set", "upload-cap"], name: "KEY=VALUE"),
        Fault(words: ["--set", "=3"], name: "KEY=VALUE"),
        Fault(words: ["--set", "upload-cap=fast"], name: "upload-cap"),
        Fault(words: ["--set", "memory-limit=1"], name: "memory-limit"),
        Fault(words: ["--pdn", "maybe"], name: "--pdn"),
        Fault(words: ["--tracker", "ftp://t"], name: "--tracker"),
        Fault(words: ["--trust", "abc"], name: "--trust"),
        Fault(words: ["--token", "no spaces"], name: "--token"),
        Fault(words: ["--downlink", "5"], name: "--downlink"),
        Fault(words: ["--log", "peers"], name: "DOMAIN=LEVEL"),
        Fault(words: ["--log", "weather=info"], name: "weather"),
        Fault(words: ["--log", "peers=loud"], name: "loud"),
        Fault(words: ["--subtitles", "a b"], name: "--subtitles"),
        Fault(words: ["--subtitles", ""], name: "--subtitles"),
        Fault(words: ["--listen", "somewhere"], name: "--listen"),
    ]

    @Test(arguments: faults) func `A wrong option is wrong usage, and named`(_ fault: Fault) async {
        let failure = #expect(throws: CommandFailure.self) { try configuration(fault.words) }
        #expect(
            failure?.exitCode == .usage && failure?.message.contains(fault.name) ?? false, "\(failure?.message ?? "")")
        #expect(await PDN.run(["play", "--headless", "http://127.0.0.1:9/a.mpd"] + fault.words) == .usage)
        #expect(await PDN.run(["swarm", "--viewers", "2", "http://127.0.0.1:9/a.mpd"] + fault.words) == .usage)
    }

    @Test func `A token file that holds none is bad input`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let call = ["play", "--headless", "http://127.0.0.1:9/a.mpd", "--token", "@\(path)"]
        #expect(await PDN.run(call) == .badInput)
        try "not a token\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(await PDN.run(call) == .badInput)
        try "abc-_1\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try configuration(["--token", "@\(path)"]).token == "abc-_1")
    }

    @Test func `A configuration file takes the same settings, as lists`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("config-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #"{"set": ["lan-only=true", "upload-share=1.5"], "log": "peers=info", "headless": true}"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        let session = try configuration(["--config", path])
        #expect(session.isLocalOnly && session.uploadRatio == 1.5)
        #expect(try ViewerOptions.log(arguments(["--config", path])).includes(.info, "peers"))
    }

    @Test func `Levels choose the lines of each domain`() throws {
        let usual = try ViewerOptions.log(arguments([]))
        #expect(usual.includes(.info, "session") && usual.includes(.info, "cdn") && !usual.includes(.warning, "peers"))
        let verbose = try ViewerOptions.log(arguments(["--verbose", "--log", "tracker=off"]))
        #expect(verbose.includes(.info, "peers") && !verbose.includes(.error, "tracker"))
        let named = try ViewerOptions.log(
            arguments(["--log", "peers=warning", "--log", "network=error", "--log", "delivery=off"]))
        #expect(named.includes(.warning, "peers") && !named.includes(.info, "peers"))
        #expect(named.includes(.error, "cdn") && !named.includes(.warning, "cdn") && !named.includes(.error, "session"))
        #expect(named.includes(.info, "integrity"))
    }

    @Test(.enabled(if: BuiltTool.isThere, "the tool is not built beside the tests"), .timeLimit(.minutes(5)))
    func `Subtitles that would be chosen are named in one line of the log`() async throws {
        let media = ##"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="N",LANGUAGE="de-AT",URI="s.m3u8""##
        let master = """
            #EXTM3U
            \(media)
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64001f",RESOLUTION=1280x720,SUBTITLES="s"
            video.m3u8
            """
        var files = Title.files
        files["/t/subtitled.m3u8"] = TestServer.File(bytes: Array(master.utf8))
        let server = try await TestServer(files)
        for (language, count) in [("de", 1), ("fr", 0)] {
            let call = [
                "swarm", "--viewers", "1", "\(server.url)/t/subtitled.m3u8", "--subtitles", language, "--duration",
                "1s",
            ]
            let result = try await BuiltTool.call(call)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.components(separatedBy: "subtitles can't be shown yet").count - 1 == count)
        }
    }
}
