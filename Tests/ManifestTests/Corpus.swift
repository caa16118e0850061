import Foundation

/// The shared corpus of real manifests, beside the checkout.
enum Corpus {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/corpus")

    /// Whether it is there; tests against it are skipped otherwise.
    static let exists = FileManager.default.fileExists(atPath: folder.appending(path: "expected.json").path)

    /// The bytes of a file.
    static func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: name))) }

    /// A section of expected.json.
    static func section(_ name: String) throws -> [String: [String: Any]] {
        try document()[name] as? [String: [String: Any]] ?? [:]
    }

    /// The streams of expected.json by name.
    static func streams() throws -> [String: [String: Any]] { try section("streams") }

    /// States of live streams.
    static func sequences() throws -> [[String: Any]] { try document()["sequences"] as? [[String: Any]] ?? [] }

    /// The URL that a file's references are resolved against.
    static func url(_ name: String) -> String {
        "http://cdn.example/path/to/" + (name.split(separator: "/").last.map(String.init) ?? name)
    }

    private static func document() throws -> [String: Any] {
        let data = try Data(contentsOf: folder.appending(path: "expected.json"))
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }
}

extension [String: Any] {
    /// A list of objects.
    func objects(_ name: String) -> [[String: Any]] { self[name] as? [[String: Any]] ?? [] }

    /// A number; `nil` for null and absent.
    func number(_ name: String) -> Double? { (self[name] as? NSNumber)?.doubleValue }

    /// A text; `nil` for null and absent.
    func text(_ name: String) -> String? { self[name] as? String }
}
