import CommandLineSupport
import Foundation
import Testing

@testable import pdn

struct KeygenTests {
    @Test func `A key file is private, and never replaced without being told to`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("key-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(await PDN.run(["keygen", "--role", "membership", "--out", path]) == .done)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let first = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(await PDN.run(["keygen", "--role", "membership", "--out", path]) == .badInput)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == first)
        #expect(await PDN.run(["keygen", "--role", "token", "--out", path, "--force"]) == .done)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != first)
        let folder = try FileManager.default.contentsOfDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        #expect(!folder.contains { $0.hasPrefix(URL(fileURLWithPath: path).lastPathComponent + ".new") })
    }

    @Test func `Wrong calls end with the right code`() async {
        #expect(await PDN.run([]) == .usage)
        #expect(await PDN.run(["--help"]) == .done)
        #expect(await PDN.run(["--version"]) == .done)
        #expect(await PDN.run(["nonsense"]) == .usage)
        #expect(await PDN.run(["keygen"]) == .usage)
        #expect(await PDN.run(["keygen", "--role", "king", "--out", "/dev/null/x"]) == .usage)
        #expect(await PDN.run(["keygen", "--role", "token", "--out", "/nowhere/at/all"]) == .failed)
    }
}
