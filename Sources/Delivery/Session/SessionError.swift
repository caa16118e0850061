public import Cryptography
public import HTTPTransfer
public import Manifest

/// Why a session can't play. Addresses are shown without their query, which may hold a token.
public enum SessionError: Error, Sendable, CustomStringConvertible {
    /// The manifest or one of its playlists could not be fetched.
    case unreachable(url: String, HTTPError)
    /// The manifest can't be used.
    case manifest(url: String, ManifestError)
    /// The manifest has nothing that can be played, or not what was asked for.
    case nothingPlayable(reason: String)
    /// The CDN does not give a segment, as its last answer says, and no peer has it.
    case segmentUnreachable(url: String, HTTPError?)
    /// The key of encrypted media can't be used.
    case contentKey(url: String, reason: String)
    /// Encrypted media don't fit their key.
    case undecryptable(url: String, ResourceCipher.Failure)
    /// A setting is wrong.
    case setting(name: String, reason: String)

    /// What happened, where, and what to do.
    public var description: String {
        switch self {
        case .unreachable(let url, let error):
            "\(Self.redacted(url)) could not be fetched: \(error). Check the address and the network."
        case .manifest(let url, let error): "The manifest \(Self.redacted(url)) can't be used: \(error)"
        case .nothingPlayable(let reason): reason
        case .segmentUnreachable(let url, let error):
            "The segment \(Self.redacted(url)) can't be had: "
                + (error.map { "of the CDN, \($0), and" } ?? "the CDN does not give it, and") + " no peer has it."
        case .contentKey(let url, let reason): "The content key \(Self.redacted(url)) can't be used: \(reason)."
        case .undecryptable(let url, .truncated):
            "\(Self.redacted(url)) can't be decrypted: it ends inside a block. The file is not whole."
        case .undecryptable(let url, .badPadding), .undecryptable(let url, .notAuthentic):
            "\(Self.redacted(url)) can't be decrypted: the key is another's, or the bytes were altered."
        case .setting(let name, let reason): "The setting \(name) is wrong: \(reason)"
        }
    }

    /// An address without what may be secret.
    static func redacted(_ url: String) -> String { redactedURL(url) }
}
