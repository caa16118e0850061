import Foundation
import Testing

/// What README.md shows is what is compiled.
struct ReadmeTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func theSampleIsTheOneThatIsCompiled() throws {
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let sample = try String(
            contentsOf: root.appendingPathComponent("Tests/ReadmeSample/main.swift"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.map { $0.components(separatedBy: "```").first } == [sample])
    }
}
