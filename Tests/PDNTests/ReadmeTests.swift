import CommandLineSupport
import Foundation
import Testing

@testable import pdn

/// The commands that README.md shows.
struct ReadmeTests {
    /// The lines of its blocks that call `pdn`, as words, without comments and redirections.
    private static func calls() throws -> [[String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        return blocks.flatMap { block in
            block.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n").compactMap { line in
                let words = line.prefix { $0 != "#" && $0 != ">" }.replacingOccurrences(of: "\"", with: "")
                    .split(separator: " ").map(String.init)
                return words.first == "pdn" ? Array(words.dropFirst()) : nil
            }
        }
    }

    @Test func `They are calls that the tool takes`() throws {
        let calls = try Self.calls()
        #expect(Set(calls.map { $0[0] }) == ["keygen", "sign", "token", "play"])
        for call in calls {
            let command = try #require(PDN.commands.first { $0.name == call[0] }, "\(call)")
            let result = try CommandParser.parse(Array(call.dropFirst()), for: command.specification)
            guard case .run = result else {
                Issue.record("\(call) runs nothing")
                continue
            }
        }
    }

    @Test func `They do what it says, one after the other`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readme-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await TestServer(Title.files)
        // The names of files are relative there, and the addresses an example's.
        let files = ["authority.key", "token.key", "master.m3u8.pdn"]
        for call in try Self.calls() where call[0] != "play" {
            let words = call.map { word in
                if files.contains(word) { return folder.appendingPathComponent(word).path }
                return word.replacingOccurrences(of: "https://cdn.example/title", with: "\(server.url)/t")
            }
            #expect(await PDN.run(words) == .done, "\(call)")
        }
        for file in files {
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path), "\(file)")
        }
    }
}
