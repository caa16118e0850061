/// A manifest as it was written.
public enum ManifestDocument: Sendable {
    /// A playlist.
    case hls(HLSPlaylist)
    /// An MPD.
    case dash(DASHManifest)

    /// Reads a manifest of either format.
    ///
    /// - Parameters:
    ///   - bytes: The manifest.
    ///   - url: Where it came from, after redirects.
    ///   - variables: Values for EXT-X-DEFINE:IMPORT.
    /// - Throws: ``ManifestError`` if the bytes are no manifest.
    public static func parse(
        _ bytes: [UInt8], url: String, variables: [String: String] = [:]
    ) throws(ManifestError) -> ManifestDocument {
        guard !bytes.isEmpty else { throw .empty }
        return DASHManifest.mayBegin(bytes)
            ? .dash(try DASHManifest.parse(bytes, url: url))
            : .hls(try HLSPlaylist.parse(bytes, url: url, variables: variables))
    }
}
