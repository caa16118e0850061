public import CoreModel

/// Why a catalogue can't be used. Whatever it is, the stream plays from the CDN alone.
public enum CatalogueError: Error, Equatable, Sendable {
    /// The file does not begin like a catalogue.
    case notACatalogue
    /// A later version's file.
    case unsupportedVersion
    /// The file ends too early.
    case truncated
    /// A field is not what the format allows.
    case malformed(WireError)
    /// No trusted key signed it.
    case foreignAuthority
    /// Fewer trusted keys signed it than the policy wants.
    case tooFewSignatures(agreeing: Int, required: Int)
    /// A signature that names a trusted key is not that key's.
    case invalidSignature(KeyID)
    /// It is for another stream than was asked for.
    case foreignStream(StreamID)
    /// It no longer counts, or not yet.
    case expired
    /// Head, rendition table and directory are larger than allowed.
    case indexTooLarge(byteCount: Int)
    /// Rendition table or directory are not the signed ones.
    case wrongIndex
    /// A page is not the signed one.
    case wrongPage(Int)
}
