public import CoreModel

/// A presentation as a player sees it, whether HLS or DASH wrote it: renditions, how they go together, and their
/// timelines.
///
/// After ``parse(_:url:)``, ask ``requirement(for:)`` about each rendition that is to be played, fetch what it names and
/// hand it to ``load(_:bytes:finalURL:)`` until it says `.ready`.
public struct Presentation: Sendable {
    /// Who wrote the manifest.
    public enum Format: String, Sendable { case hls, dash }

    /// What a rendition's timeline still needs.
    public enum Requirement: Hashable, Sendable {
        /// Nothing: the timeline is there.
        case ready
        /// The rendition's media playlist.
        case playlist(url: String)
        /// The bytes of a segment index; a server that ignores ranges may send the whole resource up to its end.
        case segmentIndex(url: String, byteRange: Range<UInt64>?)
    }

    /// What the manifest was written in, kept so that a refresh can compare.
    public enum Source: Sendable {
        /// A multivariant playlist.
        case hlsMultivariant(HLSMultivariantPlaylist)
        /// A media playlist that was opened on its own.
        case hlsMedia(HLSMediaPlaylist)
        /// An MPD.
        case dash(DASHManifest)
    }

    /// Who wrote the manifest.
    public let format: Format
    /// Where it came from, after redirects.
    public let url: String
    /// The text's own model.
    public let source: Source
    /// Whether segments will be added. For a multivariant playlist this is known with the first media playlist.
    public internal(set) var isLive: Bool
    /// How long it plays; `nil` while it is live, or before the first media playlist is loaded.
    public internal(set) var duration: MediaTime?
    /// All renditions, in the order of the manifest.
    public internal(set) var renditions: [Rendition]
    /// The ways to play it, in the order of the manifest.
    public internal(set) var variants: [Variant]
    /// Faults that were passed over.
    public internal(set) var warnings: [ManifestWarning]

    /// DASH: the pieces of each rendition by its identifier.
    var dashPieces: [Rendition.ID: [DASHPiece]] = [:]
    /// HLS: the media playlist of each rendition by its identifier.
    var playlistURLs: [Rendition.ID: String] = [:]

    /// Reads a manifest of either format; which one is told from the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The manifest.
    ///   - url: Where it came from, after redirects: references are resolved against it.
    /// - Throws: ``ManifestError`` if the bytes are no manifest.
    /// - Complexity: O(*n*) in the bytes. Time under a second and memory under 64 MiB, whatever the bytes.
    public static func parse(_ bytes: [UInt8], url: String) throws(ManifestError) -> Presentation {
        try Presentation(ManifestDocument.parse(bytes, url: url))
    }

    /// Makes the presentation of a manifest that was read.
    ///
    /// - Throws: ``ManifestError`` if its segments can't be placed.
    public init(_ document: ManifestDocument) throws(ManifestError) {
        switch document {
        case .hls(.multivariant(let playlist)): self.init(playlist)
        case .hls(.media(let playlist)): try self.init(playlist)
        case .dash(let manifest): try self.init(manifest)
        }
    }

    /// The rendition of this identifier.
    public func rendition(_ id: Rendition.ID) -> Rendition? { renditions.first { $0.id == id } }

    /// What is to be fetched next for the timeline of a rendition.
    public func requirement(for id: Rendition.ID) -> Requirement {
        if rendition(id)?.timeline != nil { return .ready }
        if let url = playlistURLs[id] { return .playlist(url: url) }
        for piece in dashPieces[id] ?? [] {
            if let need = piece.neededIndex { return .segmentIndex(url: need.url, byteRange: need.range) }
        }
        return .ready
    }

    /// Takes what ``requirement(for:)`` asked for.
    ///
    /// - Parameters:
    ///   - id: The rendition.
    ///   - bytes: The playlist, or the segment index from the first byte of the range that was asked for.
    ///   - finalURL: Where the bytes came from, after redirects.
    /// - Throws: ``ManifestError`` if the bytes aren't what they should be; the presentation is as before.
    public mutating func load(_ id: Rendition.ID, bytes: [UInt8], finalURL: String) throws(ManifestError) {
        guard let index = renditions.firstIndex(where: { $0.id == id }) else { throw .unknownRendition(id) }
        switch requirement(for: id) {
        case .ready: throw .nothingToLoad(id)
        case .playlist: try loadPlaylist(bytes, finalURL: finalURL, into: index)
        case .segmentIndex: try loadSegmentIndex(bytes, into: index)
        }
    }
}
