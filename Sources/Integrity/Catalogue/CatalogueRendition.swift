public import CoreModel

/// A row of a catalogue's rendition table: what a rendition is, and the key that its records bear.
public struct CatalogueRendition: Hashable, Sendable {
    /// The rendition's key in segment names.
    public var key: RenditionKey
    /// The canonical line of its description: ``RenditionDescription/canonical(includingPath:)``.
    public var line: String

    /// Makes a row.
    public init(key: RenditionKey, line: String) {
        self.key = key
        self.line = line
    }
}
