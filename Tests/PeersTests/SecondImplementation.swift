import CoreModel
@testable import Delivery
import Foundation
import Integrity
import SwarmProtocol

/// The peer in Python, written from the documents, as a process.
enum SecondImplementation {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../SwarmProtocolTests/Python").standardizedFileURL

    /// Whether it can be run here; making its environment can take a while the first time.
    static let isAvailable: Bool = {
        let check = Process()
        check.executableURL = URL(fileURLWithPath: "/bin/bash")
        check.arguments = [folder.appending(path: "run.sh").path, "peer.py", "--help"]
        check.standardOutput = FileHandle.nullDevice
        check.standardError = FileHandle.nullDevice
        do { try check.run() } catch { return false }
        check.waitUntilExit()
        return check.terminationStatus == 0
    }()

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
        let file = FileManager.default.temporaryDirectory.appending(path: "peer-\(UUID().uuidString).json")
        try JSONEncoder().encode(configuration).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }  // The system clears its temporary folder anyway.
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            folder.appending(path: "run.sh").path, "peer.py", mode, "--config", file.path, "--patience", "\(patience)",
        ]
        process.standardOutput = output
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { _ in
                continuation.resume(
                    with: Result {
                        let data = try output.fileHandleForReading.readToEnd() ?? Data()
                        return try JSONDecoder().decode(Report.self, from: data)
                    })
            }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
