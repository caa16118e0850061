import Foundation
import Scheduling
import Simulator
import TestSupport
import Testing

/// Decision logs of real viewers, through the scheduler again.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(
        if: BuiltTool.isThere && Programs.built("pdn-tracker") != nil, "the tools are not built beside the tests"))
struct ReplayProcessTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder("pdn-replay") }

    /// A swarm of four plays a signed title on loopback; the logs' paths.
    private func playSwarm() async throws -> [String] {
        let server = try await TestServer(Title.files)
        let key = folder.path("authority")
        let authority = try await BuiltTool.call(["keygen", "--role", "authority", "--out", key])
        let url = "\(server.url)/t/master.m3u8"
        let catalogue = folder.path("catalogue")
        let signing = try await BuiltTool.call(["sign", url, "--key", key, "--stream", "s", "--out", catalogue])
        #expect(signing.status == 0, "\(signing.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: catalogue))
        server.change("/t/master.m3u8.pdn") { $0.bytes = Array(bytes) }

        let tracker = try await ChildProcess.start(
            try #require(Programs.built("pdn-tracker")),
            ["--listen", "127.0.0.1:0", "--membership-key", folder.path("membership")])
        let words = await tracker.firstLine().split(separator: " ")
        let control = try #require(words.first { $0.hasPrefix("ws://") })
        let trackerKey = try #require(words.first { $0.hasPrefix("key=") }?.dropFirst(4))
        let swarm = try await BuiltTool.call([
            "swarm", url, "--viewers", "4", "--stagger", "500ms", "--duration", "6s", "--pdn", "on", "--tracker",
            String(control), "--tracker-key", String(trackerKey), "--trust",
            authority.output.trimmingCharacters(in: .whitespacesAndNewlines), "--stream", "s", "--listen",
            "127.0.0.1:0", "--decisions", folder.path("log"),
        ])
        #expect(swarm.status == 0, "\(swarm.errors)")
        tracker.send(SIGTERM)
        _ = await tracker.finish()
        return (0..<4).map { folder.path("log.\($0)") }
    }

    @Test func `The logs of a swarm replay exactly, and an altered decision is found`() async throws {
        let paths = try await playSwarm()
        var requests = 0
        for path in paths {
            let log = try DecisionLog(Array(Data(contentsOf: URL(fileURLWithPath: path))))
            guard case .same(_, let decisionCount) = Replay.run(log) else {
                Issue.record("\(path): \(Replay.run(log))")
                continue
            }
            #expect(decisionCount > 0)
            requests += log.entries.count { if case .output(.request) = $0.event { true } else { false } }
            let fetches = log.entries.count { if case .output(.fetch) = $0.event { true } else { false } }
            #expect(Explanation(log).sentences.count >= fetches)
        }
        // Otherwise nothing was decided about peers.
        #expect(requests > 0)

        let replay = try await BuiltTool.call(["replay", "--explain"] + paths)
        #expect(replay.status == 0 && replay.output.contains("asked of the CDN (startup:"))

        var lines = try String(contentsOfFile: paths[0], encoding: .utf8).split(separator: "\n").map(String.init)
        let index = try #require(lines.firstIndex { $0.contains(#""_3":"startup""#) })
        lines[index] = lines[index].replacing(#""_3":"startup""#, with: #""_3":"backup""#)
        try lines.joined(separator: "\n").write(toFile: folder.path("altered"), atomically: true, encoding: .utf8)
        let altered = try await BuiltTool.call(["replay", folder.path("altered")])
        #expect(altered.status == 1 && altered.output.contains("line \(index + 1): the log says"), "\(altered)")

        try lines.dropFirst().joined(separator: "\n").write(
            toFile: folder.path("headless"), atomically: true, encoding: .utf8)
        let malformed = try await BuiltTool.call(["replay", folder.path("headless")])
        #expect(malformed.status == 3 && malformed.output.isEmpty && malformed.errors.contains("line 1"))
        #expect(try await BuiltTool.call(["replay", folder.path("absent")]).status == 3)
    }
}
