public import CoreModel

/// What the samples of a segment are decrypted with.
public struct SampleKeys: Hashable, Sendable {
    /// Keys by their identifiers.
    public var byID: [Bytes16: ContentKey]
    /// The key of whatever has no identifier, or one that is not among ``byID``: an HLS playlist names keys by address.
    public var other: ContentKey?
    /// The initialization vector, 16 bytes, for media that carry none themselves (HLS).
    public var vector: [UInt8]?

    /// Puts keys together.
    public init(byID: [Bytes16: ContentKey] = [:], other: ContentKey? = nil, vector: [UInt8]? = nil) {
        self.byID = byID
        self.other = other
        self.vector = vector
    }

    /// The key of an identifier.
    public func key(_ id: Bytes16) -> ContentKey? { byID[id] ?? other }
}
