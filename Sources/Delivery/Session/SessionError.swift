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
    /// A segment is gone from the CDN and no peer has it.
    case segmentUnreachable(url: String)
    /// A setting is wrong.
    case setting(name: String, reason: String)

    /// What happened, where, and what to do.
    public var description: String {
        switch self {
        case .unreachable(let url, let error):
            "\(Self.redacted(url)) could not be fetched: \(error). Check the address and the network."
        case .manifest(let url, let error): "The manifest \(Self.redacted(url)) can't be used: \(error)"
        case .nothingPlayable(let reason): reason
        case .segmentUnreachable(let url):
            "The segment \(Self.redacted(url)) is missing from the CDN and no peer has it."
        case .setting(let name, let reason): "The setting \(name) is wrong: \(reason)"
        }
    }

    /// An address without its query and fragment.
    static func redacted(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}
