import Foundation
import TestSupport
import Testing

/// `pdn simulate` as scripts see it.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltTool.isThere, "the tool is not built beside the tests"))
struct SimulateProcessTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder("pdn-simulate")
        let scenario = """
            {"name": "small", "shows": "A small swarm.", "duration": "30s",
             "stream": {"type": "vod", "ladder": ["1Mbps"], "segment": "2s", "length": "20s", "sizeVariation": 0.3},
             "population": {"viewers": 6, "arrivals": {"kind": "poisson", "over": "5s"},
                            "session": {"kind": "exponential", "mean": "15s", "minimum": "1s"}},
             "links": {"classes": [{"name": "home", "down": "20Mbps", "up": "5Mbps"}]},
             "conduct": {"polluters": 0.2}}
            """
        try Data(scenario.utf8).write(to: URL(fileURLWithPath: folder.path("small.json")))
    }

    @Test func `Two processes print the same document`() async throws {
        let arguments = ["simulate", folder.path("small.json"), "--seed", "5", "--json"]
        let first = try await BuiltTool.call(arguments)
        let second = try await BuiltTool.call(arguments)
        #expect(first.status == 0 && first.output == second.output)
        let document = try JSONSerialization.jsonObject(with: Data(first.output.utf8)) as? [String: Any]
        let total = try #require(document?["total"] as? [String: Any])
        #expect(total["wallSeconds"] is NSNull && (total["offload"] as? Double ?? -1) > 0)
        #expect(document?["simulatedSeconds"] as? Double == 30)
        #expect(first.errors.contains("simulated in"))
    }

    @Test func `What is no scenario is bad input`() async throws {
        let absent = try await BuiltTool.call(["simulate", folder.path("absent.json")])
        #expect(absent.status == 3 && absent.output.isEmpty && absent.errors.contains("vod-steady"))
        try Data(#"{"name": "a", "shows": "b"}"#.utf8).write(to: URL(fileURLWithPath: folder.path("bad.json")))
        let bad = try await BuiltTool.call(["simulate", folder.path("bad.json")])
        #expect(bad.status == 3 && bad.errors.contains("duration"))
    }

    /// A file of a terabyte takes no room on disk, and must take none in memory.
    @Test func `What is too long is not read`() async throws {
        let huge = folder.path("huge.json")
        _ = FileManager.default.createFile(atPath: huge, contents: nil)
        try FileHandle(forWritingTo: URL(fileURLWithPath: huge)).truncate(atOffset: 1 << 40)
        let scenario = try await BuiltTool.call(["simulate", huge])
        #expect(scenario.status == 3 && scenario.errors.contains("longer than"))
        let text = try String(contentsOfFile: folder.path("small.json"), encoding: .utf8).replacingOccurrences(
            of: #""down": "20Mbps""#, with: #""trace": {"format": "csv", "down": "huge.json"}"#)
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("traced.json")))
        let trace = try await BuiltTool.call(["simulate", folder.path("traced.json")])
        #expect(trace.status == 3 && trace.errors.contains("links.classes[0].trace.down"))
        #expect(trace.errors.contains("longer than"))
    }

    @Test(arguments: ["0", "1ms", "10000d"])
    func `A duration that no scenario has is refused`(duration: String) async throws {
        let result = try await BuiltTool.call(["simulate", folder.path("small.json"), "--duration", duration])
        #expect(result.status == 2 && result.errors.contains("--duration"))
    }

    @Test func `Several seeds print one document, whatever runs at once`() async throws {
        let arguments = ["simulate", folder.path("small.json"), "--seeds", "3", "--json"]
        let one = try await BuiltTool.call(arguments + ["--jobs", "1"])
        let many = try await BuiltTool.call(arguments + ["--jobs", "3"])
        #expect(one.status == 0 && one.output == many.output)
        let document = try JSONSerialization.jsonObject(with: Data(one.output.utf8)) as? [String: Any]
        #expect((document?["runs"] as? [Any])?.count == 3)
        let offload = (document?["figures"] as? [String: Any])?["offload"] as? [String: Any]
        #expect(offload?["mean"] is Double && offload?["low"] is Double)
    }

    @Test func `Policies named one by one are compared on the same seeds`() async throws {
        let arguments = ["simulate", folder.path("small.json"), "--policy", "hash-election", "--policy", "ours"]
        let result = try await BuiltTool.call(arguments + ["--json"])
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        let policies = try #require(document?["policies"] as? [[String: Any]])
        #expect(policies.map { $0["policy"] as? String } == ["hash-election", "ours"])
        #expect(document?["againstCDNOnly"] is NSNull)
        for wrong in [["--policy", "ours"], ["--policy", "best"], ["--explain", "0"], ["--compare"]] {
            let refused = try await BuiltTool.call(arguments + wrong)
            #expect(refused.status == 2 && refused.output.isEmpty, "\(wrong)")
        }
    }

    @Test func `A viewer is explained`() async throws {
        let result = try await BuiltTool.call(["simulate", folder.path("small.json"), "--explain", "2"])
        #expect(result.status == 0 && result.output.contains("viewer 2 began to play"))
        #expect(result.output.contains("asked of the CDN"))
        let absent = try await BuiltTool.call(["simulate", folder.path("small.json"), "--explain", "99"])
        #expect(absent.status == 2 && absent.errors.contains("no viewer 99"))
        let several = try await BuiltTool.call(
            ["simulate", folder.path("small.json"), "--explain", "2", "--seeds", "2"])
        #expect(several.status == 2)
    }

    /// The page and its images; their sizes are read by the rules of the PNG specification, section 11.2.1.
    @Test func `A report is a page and images`() async throws {
        let report = folder.path("deep/report")
        let result = try await BuiltTool.call(["simulate", folder.path("small.json"), "--report", report])
        #expect(result.status == 0 && result.errors.contains("report: "))
        let page = try String(contentsOfFile: report + "/index.html", encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("<svg"))
        let images = try FileManager.default.contentsOfDirectory(atPath: report).filter { $0.hasSuffix(".png") }
        #expect(images.count == 8)
        for image in images {
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: report + "/" + image)))
            #expect(bytes.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            #expect(bytes[16..<20] == [0, 0, 4, 0xEC])  // Three pixels for each of 420 points.
        }
    }

    @Test func `A report goes into no file`() async throws {
        let result = try await BuiltTool.call([
            "simulate", folder.path("small.json"), "--report", folder.path("small.json"),
        ])
        #expect(result.status == 1 && result.errors.contains("small.json is a file"))
        let absent = try await BuiltTool.call(["simulate", folder.path("small.json"), "--report", "/proc/report"])
        #expect(absent.status == 1 && absent.errors.contains("can't be written to"))
    }
}
