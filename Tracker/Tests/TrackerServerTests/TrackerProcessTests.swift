import CoreModel
import EventLoop
import Foundation
import TestSupport
import Testing
import TrackerProtocol

/// `pdn-tracker` as scripts see it.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: Programs.built("pdn-tracker") != nil, "pdn-tracker is not built beside the tests"))
struct TrackerProcessTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder("pdn-tracker") }

    /// Starts it and gives its first line.
    private func start(_ arguments: [String]) async throws -> (process: ChildProcess, line: String) {
        let process = try await ChildProcess.start(
            try #require(Programs.built("pdn-tracker")), arguments + ["--membership-key", folder.path("key")])
        return (process, await process.firstLine())
    }

    @Test func `It prints one line when it is ready, serves, and ends on an interrupt with 130`() async throws {
        let (process, line) = try await start(["--listen", "127.0.0.1:0"])
        let match = try #require(
            line.wholeMatch(of: #/listening http://127\.0\.0\.1:(\d+) ws://127\.0\.0\.1:(\d+) key=([0-9a-f]{64})/#))
        #expect(match.output.1 == match.output.2)
        let port = try #require(UInt16(match.output.1))

        let loop = try EventLoop.startThread(named: "test")
        defer { loop.stop() }
        let request = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        #expect(
            String(decoding: await exchange(loop, port: port, [request]), as: UTF8.self).hasSuffix("\r\n\r\nok\n"))
        let viewer = TestSocket(loop, url: "ws://127.0.0.1:\(port)/")
        #expect(VerificationKey(hexadecimal: match.output.3) == (try await viewer.join(1).membershipKey))
        process.send(SIGINT)
        #expect(await process.finish().status == 130)
        #expect(await viewer.waitForEnd())

        // The key it made is used again.
        let (again, second) = try await start(["--listen", "127.0.0.1:0"])
        #expect(second.hasSuffix("key=\(match.output.3)"))
        again.send(SIGINT)
        #expect(await again.finish().status == 130)
    }

    @Test(arguments: [
        ["--listen", "nowhere"], ["--token-key", "12"], ["--max-viewers", "0"], ["--nonsense"],
        ["--trusted-proxy", "proxy.example"], ["--viewer-uplink", "fast"], ["--viewer-upload-percent", "-1"],
        ["--viewer-upload-per-day", "much"], ["--viewer-peers", "1001"],
    ])
    func `Wrong options are usage errors, without a ready line`(arguments: [String]) async throws {
        let (process, line) = try await start(arguments)
        #expect(await process.finish().status == 2 && line.isEmpty)
    }

    @Test func `What viewers are to keep to goes with the welcome`() async throws {
        let (process, line) = try await start([
            "--listen", "127.0.0.1:0", "--viewer-uplink", "5Mbps", "--viewer-upload-percent", "150",
            "--viewer-upload-per-day", "2GiB", "--viewer-peers", "12", "--cdn-only",
        ])
        let port = try #require(line.firstMatch(of: #/:(\d+) /#)?.output.1)
        let loop = try EventLoop.startThread(named: "test")
        defer { loop.stop() }
        let settings = try await TestSocket(loop, url: "ws://127.0.0.1:\(port)/").join(1).settings
        #expect(settings.maximumUploadBitsPerSecond == 5_000_000 && settings.maximumUploadPercent == 150)
        #expect(settings.maximumUploadMebibytesPerDay == 2048 && settings.maximumPeerCount == 12)
        #expect(settings.disablesPeers)
        process.send(SIGTERM)
        #expect(await process.finish().status == 0)
    }

    @Test func `It opens as many files as it may, and says so when those are fewer than viewers`() async throws {
        let program = try #require(Programs.built("pdn-tracker"))
        for (viewers, isNoted) in [("201", true), ("200", false)] {
            let process = try await ChildProcess.start(
                "sh",
                [
                    "-c", "ulimit -S -n 100 && ulimit -H -n 200 && exec \"$@\"", "sh", program, "--listen",
                    "127.0.0.1:0", "--max-viewers", viewers, "--membership-key", folder.path("key"),
                ], keepsErrors: true)
            _ = await process.firstLine()
            process.send(SIGTERM)
            #expect(await process.finish().errorText.contains("it open 200 files") == isNoted)
        }
    }

    @Test func `A port that is taken is an error, not a wait`() async throws {
        let (first, line) = try await start(["--listen", "127.0.0.1:0"])
        let port = try #require(line.firstMatch(of: #/:(\d+) /#)?.output.1)
        let (second, nothing) = try await start(["--listen", "127.0.0.1:\(port)"])
        #expect(await second.finish().status > 0 && nothing.isEmpty && first.isRunning)
    }
}
