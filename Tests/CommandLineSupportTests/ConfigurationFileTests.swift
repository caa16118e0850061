import CommandLineSupport
import Foundation
import Testing

struct ConfigurationFileTests {
    private let specification = CommandSpecification(
        name: "tool", summary: "tests", options: [.repeated("set", "KEY=VALUE", "texts"), .flag("json", "JSON")])

    @Test func `A file without an end is read no further than a configuration goes`() {
        let failure = #expect(throws: CommandFailure.self) {
            try CommandParser.parse(["--config", "/dev/zero"], for: specification)
        }
        #expect(failure?.exitCode == .badInput)
    }

    @Test(arguments: [
        "", "[]", "{", "{\"speed\": 1}", "{\"json\": 1}", "{\"set\": {}}", "{\"set\": [null]}", "{\"config\": \"x\"}",
        String(repeating: "[", count: 100_000),
    ])
    func `What is no configuration is bad input`(text: String) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("config-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let failure = #expect(throws: CommandFailure.self) {
            try CommandParser.parse(["--config", path], for: specification)
        }
        #expect(failure?.exitCode == .badInput && failure?.message.contains(path) ?? false)
    }
}
