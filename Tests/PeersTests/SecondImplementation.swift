import CoreModel
@testable import Delivery
import Foundation
import Integrity
import SwarmProtocol
import TestSupport

/// The peer in Python, written from the documents, as a process.
enum SecondImplementation {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../SwarmProtocolTests/Python").standardizedFileURL

    /// Whether it can be run here; making its environment can take a while the first time.
    static var isAvailable: Bool {
        get async { await check.value }
    }

    private static let check = Task {
        let outcome = try? await ChildProcess.run("bash", [folder.appending(path: "run.sh").path, "peer.py", "--help"])
        return outcome?.status == 0
    }

    struct Peer: Encodable {
        let address: String
        let key: String?
    }

    /// What it is told; see `peer.py`.
    struct Configuration: Encodable {
        var swarm = Hexadecimal.encode(TestAuthority.swarm.bytes)
        var seed: String
        var claimSeed: String
        var certificate: String
        var membershipKeys: [String]
        var authorities: [String]
        var stream = Hexadecimal.encode(TestAuthority.stream.value.bytes)
        var source: Peer
        var victim: Peer
        var names: [[Field]]
        var time = TestAuthority.time.seconds
    }

    /// A number, or a rendition's hexadecimal digits.
    enum Field: Encodable {
        case number(UInt64), text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    /// What it reports.
    struct Report: Decodable {
        struct Refusal: Decodable {
            var established: Bool
            var bye: Int?
        }

        struct Segment: Decodable {
            var root: String
            var bytes: Int
        }

        var mode: String
        var established: Bool?
        var bye: Int?
        var tolerated: Bool?
        var chunksSent: Int?
        var leavesSent: Int?
        var cancels: Int?
        var recordRequests: Int?
        var again: Refusal?
        var segments: [Segment]?
        var error: String?
    }

    /// Runs a mode to its end.
    static func run(_ mode: String, _ configuration: Configuration, patience: Int) async throws -> Report {
        let temporary = try TestFolder("peer")
        try temporary.write(try JSONEncoder().encode(configuration), to: "configuration.json")
        let outcome = try await ChildProcess.run(
            "bash",
            [
                folder.appending(path: "run.sh").path, "peer.py", mode, "--config",
                temporary.path("configuration.json"),
                "--patience", "\(patience)",
            ], keepsErrors: true)
        guard !outcome.output.isEmpty else { throw TestFailure("peer.py \(mode): \(outcome.errorText.suffix(500))") }
        return try withExtendedLifetime(temporary) { try JSONDecoder().decode(Report.self, from: outcome.output) }
    }
}
