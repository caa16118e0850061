import CommandLineSupport
import Foundation
import Manifest
import Testing

@testable import pdn

@Suite(.timeLimit(.minutes(5)))
struct InspectTests {
    private static let corpus = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/corpus")

    private static let hasCorpus = FileManager.default.fileExists(
        atPath: corpus.appending(path: "expected.json").path)

    /// Members of the corpus that say how a value came about.
    private static let remarks: Set<String> = ["computed_by", "notes", "note", "source", "imported_variables"]

    /// Where a document differs from what is expected of it; members that the expectation lacks may be there.
    private func differences(_ expected: Any, _ value: JSONValue?, _ path: String) -> [String] {
        switch (expected, value) {
        case (let members as [String: Any], .object?):
            return members.flatMap { name, expected in
                Self.remarks.contains(name) ? [] : differences(expected, value?[name], "\(path).\(name)")
            }
        case (let items as [Any], .array(let values)?):
            guard items.count == values.count else { return ["\(path): \(values.count) for \(items.count) entries"] }
            return items.indices.flatMap { differences(items[$0], values[$0], "\(path)[\($0)]") }
        case (let items as [Any], nil): return items.isEmpty ? [] : ["\(path) is missing"]
        case (is NSNull, nil), (is NSNull, .null?): return []
        case (let text as String, .string(let value)?): return text == value ? [] : ["\(path): \(value) for \(text)"]
        case (let number as NSNumber, .boolean(let value)?):
            return number.boolValue == value ? [] : ["\(path): \(value)"]
        case (let number as NSNumber, nil): return number.boolValue ? ["\(path) is missing"] : []
        case (let number as NSNumber, .integer(let value)?): return near(Double(value), number, path)
        case (let number as NSNumber, .number(let value)?): return near(value, number, path)
        default: return ["\(path): \(value.map { $0.text(isIndented: false) } ?? "nothing") for \(expected)"]
        }
    }

    private func near(_ value: Double, _ expected: NSNumber, _ path: String) -> [String] {
        let tolerance = abs(expected.doubleValue) >= 1e9 ? 1e-3 : 1e-6
        return abs(value - expected.doubleValue) <= tolerance ? [] : ["\(path): \(value) for \(expected)"]
    }

    @Test(.enabled(if: hasCorpus, "the shared corpus is not beside the checkout"))
    func `The JSON of every manifest of the corpus is what is expected, URLs included`() throws {
        let data = try Data(contentsOf: Self.corpus.appending(path: "expected.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let manifests = try #require(document["manifests"] as? [String: [String: Any]])
        for (name, expected) in manifests {
            let bytes = [UInt8](try Data(contentsOf: Self.corpus.appending(path: name)))
            let manifest = try ManifestDocument.parse(
                bytes, url: try #require(expected["url"] as? String),
                variables: expected["imported_variables"] as? [String: String] ?? [:])
            for difference in differences(expected, try ManifestInspection.json(manifest), "").prefix(5) {
                Issue.record("\(name) \(difference)")
            }
        }
    }

    @Test func `Exit codes tell a bad manifest from one that can't be reached`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "inspect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(await PDN.run(["inspect", file.path]) == .unreachable)
        // Nobody listens on port 1 of the loopback.
        #expect(await PDN.run(["inspect", "http://127.0.0.1:1/main.mpd"]) == .unreachable)
        try Data("<html/>".utf8).write(to: file)
        #expect(await PDN.run(["inspect", file.path, "--json"]) == .badInput)
        try Data("#EXTM3U\n#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n".utf8).write(to: file)
        #expect(await PDN.run(["inspect", file.path]) == .done)
        #expect(await PDN.run(["inspect", file.path, "--json", "--base", "http://h/x"]) == .done)
        #expect(await PDN.run(["inspect"]) == .usage)
        #expect(await PDN.run(["inspect", file.path, "--define", "novalue"]) == .usage)
    }

    @Test func `A live playlist is followed until it has brought what was asked for`() async throws {
        func playlist(_ last: Int, _ tail: String = "") -> [UInt8] {
            let list = (0...last).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
            return Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(list)\(tail)".utf8)
        }
        let server = try await TestServer(["/m.m3u8": TestServer.File(bytes: playlist(3))])
        async let code = PDN.run(["inspect", "\(server.url)/m.m3u8", "--live", "2"])
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(20)) }
        server.change("/m.m3u8") { $0.bytes = playlist(4) }
        while server.requests.count < 4 { try await Task.sleep(for: .milliseconds(20)) }
        server.change("/m.m3u8") { $0.bytes = playlist(5) }
        #expect(await code == .done)
        // What is over is not followed.
        server.change("/m.m3u8") { $0.bytes = playlist(5, "#EXT-X-ENDLIST\n") }
        #expect(await PDN.run(["inspect", "\(server.url)/m.m3u8", "--live", "1"]) == .badInput)
        #expect(await PDN.run(["inspect", "\(server.url)/m.m3u8", "--live", "0"]) == .usage)
    }

    @Test func `The tree shows what a presentation is and what it still needs`() throws {
        let text = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360
            v/360.m3u8
            """
        let presentation = try Presentation.parse(Array(text.utf8), url: "http://h/main.m3u8")
        #expect(
            ManifestInspection.tree(presentation) == [
                "HLS http://h/main.m3u8", "  length not known yet", "  variants", "    360p-900000, 900 kbit/s",
                "  renditions", "    360p-900000: muxed, 640x360, avc1.64001f,mp4a.40.2",
                "      playlist http://h/v/360.m3u8",
            ])
    }
}
