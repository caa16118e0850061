import CommandLineSupport
import CoreModel
import Cryptography
import Foundation
import Integrity
import Testing

@testable import pdn

struct TokenTests {
    @Test func `A token needs a token key and sensible numbers`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("key-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let call = ["token", "--key", path, "--stream", "s", "--viewer", "v"]
        #expect(await PDN.run(call) == .badInput)
        #expect(await PDN.run(["keygen", "--role", "authority", "--out", path]) == .done)
        #expect(await PDN.run(call) == .badInput)
        #expect(await PDN.run(["keygen", "--role", "token", "--out", path, "--force"]) == .done)
        #expect(await PDN.run(call) == .done)
        #expect(await PDN.run(call + ["--sessions", "0"]) == .usage)
        #expect(await PDN.run(call + ["--expires", "soon"]) == .usage)
        #expect(await PDN.run(call + ["--expires", "1h", "--sessions", "3", "--secret-swarm", "--json"]) == .done)
    }
}
