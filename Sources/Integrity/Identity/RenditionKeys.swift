public import CoreModel

/// Assigns keys to the renditions of one presentation.
public enum RenditionKeys {
    /// The canonical line that names each rendition: its attributes where no other rendition has the same, else with the
    /// path, and `nil` where even that is not enough: such a rendition goes without peers.
    public static func canonicalLines(_ descriptions: [RenditionDescription]) -> [String?] {
        let short = descriptions.map { $0.canonical(includingPath: false) }
        let shortCounts = counts(short)
        let long = zip(descriptions, short).map { description, line in
            shortCounts[line] == 1 ? line : description.canonical(includingPath: true)
        }
        let longCounts = counts(long)
        return long.map { longCounts[$0] == 1 ? $0 : nil }
    }

    /// The key of each rendition; `nil` where it can't be told from another.
    public static func assign(
        _ descriptions: [RenditionDescription], suite: some CryptoSuite
    ) -> [RenditionKey?] {
        let keys = canonicalLines(descriptions).map { $0.map { key(of: $0, suite: suite) } }
        let keyCounts = counts(keys.compactMap { $0 })
        return keys.map { key in key.flatMap { keyCounts[$0] == 1 ? $0 : nil } }
    }

    /// The key of a canonical line: the first eight bytes of its SHA-256 digest.
    public static func key(of line: String, suite: some CryptoSuite) -> RenditionKey {
        RenditionKey(rawValue: suite.sha256(Array(line.utf8).span.bytes).value.words.0)
    }

    private static func counts<Value: Hashable>(_ values: [Value]) -> [Value: Int] {
        Dictionary(values.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
