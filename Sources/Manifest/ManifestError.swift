/// Why bytes from outside are no manifest that can be used. Nothing of the manifest is kept; fetching it again, or from
/// another host, is all a caller can do.
public enum ManifestError: Error, Equatable, Sendable {
    /// No bytes at all.
    case empty
    /// Neither `#EXTM3U` (RFC 8216bis, section 4.4.1.1) nor an XML document with the root `MPD` (ISO/IEC 23009-1,
    /// section 5.3.1.2).
    case unrecognized(beginning: String)
    /// A playlist is UTF-8 (RFC 8216bis, section 4.1); this one stops being so at `byteOffset`.
    case notUTF8(byteOffset: Int)
    /// More than this reader takes in; it bounds what a manifest can cost.
    case tooLarge(what: String, limit: Int)
    /// A playlist breaks a rule of RFC 8216bis, `section`, on `line` (from 1).
    case hls(line: Int, tag: String, problem: String, section: String)
    /// The bytes are not well-formed XML, or declare a document type, which is refused.
    case notWellFormed(line: Int, problem: String)
    /// An MPD breaks a rule of ISO/IEC 23009-1, `section`, in `element` on `line` (from 1).
    case dash(line: Int, element: String, problem: String, section: String)
    /// A segment index breaks a rule of ISO/IEC 14496-12, section 8.16.3.
    case segmentIndex(byteOffset: Int, problem: String)
    /// The presentation has no rendition of this identifier.
    case unknownRendition(String)
    /// The rendition's timeline is already known; nothing is to be loaded for it.
    case nothingToLoad(String)
}

extension ManifestError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the manifest is empty"
        case .unrecognized(let beginning): "neither an HLS playlist nor an MPD: it begins with \"\(beginning)\""
        case .notUTF8(let byteOffset): "not UTF-8 at byte \(byteOffset) (RFC 8216bis, section 4.1)"
        case .tooLarge(let what, let limit): "too large: more than \(limit) \(what)"
        case .hls(let line, let tag, let problem, let section):
            "line \(line), \(tag): \(problem) (RFC 8216bis, section \(section))"
        case .notWellFormed(let line, let problem): "line \(line): not well-formed XML: \(problem)"
        case .dash(let line, let element, let problem, let section):
            "line \(line), \(element): \(problem) (ISO/IEC 23009-1, section \(section))"
        case .segmentIndex(let byteOffset, let problem):
            "segment index, byte \(byteOffset): \(problem) (ISO/IEC 14496-12, section 8.16.3)"
        case .unknownRendition(let id): "no rendition \"\(id)\""
        case .nothingToLoad(let id): "rendition \"\(id)\" needs nothing more"
        }
    }
}
