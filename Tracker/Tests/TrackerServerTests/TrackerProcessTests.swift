import CoreModel
import EventLoop
import Foundation
import Testing
import TrackerProtocol

/// `pdn-tracker` as it was built with the tests.
enum BuiltTracker {
    /// Where it is; `nil` when it is not beside the tests.
    static let url: URL? = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let tool = folder.appendingPathComponent("pdn-tracker")
        return FileManager.default.isExecutableFile(atPath: tool.path) ? tool : nil
    }()
}

/// `pdn-tracker` as scripts see it.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: BuiltTracker.url != nil, "pdn-tracker is not built beside the tests"))
struct TrackerProcessTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pdn-tracker-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Starts it and gives its first line.
    private func start(_ arguments: [String]) throws -> (process: Process, line: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = BuiltTracker.url
        process.arguments = arguments + ["--membership-key", folder.appendingPathComponent("key").path]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        return (process, String(decoding: line, as: UTF8.self))
    }

    @Test func `It prints one line when it is ready, serves, and ends on an interrupt with 130`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (process, line) = try start(["--listen", "127.0.0.1:0"])
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
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
        #expect(await viewer.waitForEnd())

        // The key it made is used again.
        let (again, second) = try start(["--listen", "127.0.0.1:0"])
        #expect(second.hasSuffix("key=\(match.output.3)"))
        again.interrupt()
        again.waitUntilExit()
        #expect(again.terminationStatus == 130)
    }

    @Test(arguments: [
        ["--listen", "nowhere"], ["--token-key", "12"], ["--max-viewers", "0"], ["--nonsense"],
    ])
    func `Wrong options are usage errors, without a ready line`(arguments: [String]) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (process, line) = try start(arguments)
        process.waitUntilExit()
        #expect(process.terminationStatus == 2 && line.isEmpty)
    }

    @Test func `A port that is taken is an error, not a wait`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (first, line) = try start(["--listen", "127.0.0.1:0"])
        defer {
            first.terminate()
            first.waitUntilExit()
        }
        let port = try #require(line.firstMatch(of: #/:(\d+) /#)?.output.1)
        let (second, nothing) = try start(["--listen", "127.0.0.1:\(port)"])
        second.waitUntilExit()
        #expect(second.terminationStatus != 0 && nothing.isEmpty)
    }
}
