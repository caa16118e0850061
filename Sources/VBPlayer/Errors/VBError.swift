import Foundation

/// The domain of every error of this module.
public let VBErrorDomain = "VBErrorDomain"

/// What went wrong: the code of an `NSError` of ``VBErrorDomain``. The numbers never change.
///
/// 1xx are the caller's settings, 2xx the network, 3xx the manifest, 4xx the media, 5xx the swarm, 6xx refused commands.
public enum VBErrorCode: Int, Sendable, CaseIterable {
    /// An argument or settings key that doesn't exist.
    case unknownSetting = 100
    /// Text of arguments that can't be taken apart: a word without `=`, an open quote, a name given twice.
    case malformedArguments = 101
    /// A setting of the wrong type.
    case wrongSettingType = 102
    /// A setting outside of its range, or text that doesn't spell what it should.
    case wrongSettingValue = 103
    /// No address of a manifest, or one that isn't http or https.
    case wrongAddress = 104

    /// The host's name has no address.
    case unknownHost = 200
    /// The host refused the connection or can't be reached.
    case unreachable = 201
    /// No secure connection: the certificate or the protocol.
    case insecureConnection = 202
    /// No answer in time.
    case timedOut = 203
    /// The server has no such file (404, 410).
    case notFound = 204
    /// The server refused access (401, 403).
    case accessDenied = 205
    /// Another answer that isn't success.
    case serverFailure = 206
    /// An answer that ended early or had another length than announced.
    case incompleteAnswer = 207

    /// The manifest isn't HLS or DASH, or breaks their rules.
    case malformedManifest = 300
    /// The manifest needs something that isn't supported.
    case unsupportedManifest = 301
    /// The manifest lists nothing to play, or not the rendition asked for.
    case nothingToPlay = 302
    /// The media are encrypted, and their key is not there or is another's.
    case protectedContent = 303

    /// Media that its container or codec doesn't allow.
    case malformedMedia = 400
    /// A codec or container that isn't supported.
    case unsupportedMedia = 401
    /// More appended than the buffer holds.
    case bufferFull = 402
    /// A call that the moment doesn't allow, such as appending after the end.
    case wrongMoment = 403

    /// The viewer token, a key or a certificate was refused.
    case notAdmitted = 500

    /// A rate other than 0 and 1.
    case unsupportedRate = 600

    /// A fault of this library.
    case internalFault = 900

    /// What a person can do about it.
    var advice: String {
        switch self {
        case .unknownSetting: "Check the spelling against the list of settings."
        case .malformedArguments: "Write name=value words, with quotes around a value that has spaces."
        case .wrongSettingType, .wrongSettingValue: "Give the setting as its documentation says."
        case .wrongAddress: "Give the address of an HLS or DASH manifest, such as https://host/path/manifest.mpd."
        case .unknownHost: "Check the host's name and that name resolution works."
        case .unreachable: "Check that the server runs and that the network reaches it."
        case .insecureConnection: "Check the server's certificate; playback without a valid one is refused."
        case .timedOut: "Check the network and the server, then make a new player."
        case .notFound: "Check the address."
        case .accessDenied: "Check that this viewer may have the stream."
        case .serverFailure, .incompleteAnswer: "Check the server, then make a new player."
        case .malformedManifest: "Check the manifest with `pdn inspect`."
        case .unsupportedManifest, .unsupportedMedia: "Use another format or rendition."
        case .nothingToPlay: "Check the manifest and the rendition setting."
        case .protectedContent: "Check the content keys, and that this viewer may have the stream."
        case .malformedMedia: "Check the media; what came before it stays."
        case .bufferFull: "Append again once part of the buffer has been played."
        case .wrongMoment: "Seek first; that starts a new sequence of data."
        case .notAdmitted: "Ask for a new token."
        case .unsupportedRate: "Set 0 to pause or 1 to play."
        case .internalFault: "Make a new player, and report this."
        }
    }
}

/// An error of this module before it becomes an `NSError`.
package struct PlayerError: Error, Sendable {
    /// The cause.
    package var code: VBErrorCode
    /// What happened, as a sentence without what to do.
    package var fact: String
    /// The error beneath.
    package var underlying: (any Error)?

    package init(_ code: VBErrorCode, _ fact: String, underlying: (any Error)? = nil) {
        self.code = code
        self.fact = fact
        self.underlying = underlying
    }

    /// The error as the public interface shows it.
    var nsError: NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "\(fact) \(code.advice)", NSLocalizedFailureReasonErrorKey: fact,
            NSLocalizedRecoverySuggestionErrorKey: code.advice,
        ]
        // Every error has one beneath it: where no deeper cause is known, its own code as a plain error.
        info[NSUnderlyingErrorKey] = underlying ?? Underlying(code: code)
        return NSError(domain: VBErrorDomain, code: code.rawValue, userInfo: info)
    }

    /// The error beneath an error that this module found itself.
    struct Underlying: Error, Sendable, CustomStringConvertible {
        var code: VBErrorCode
        var description: String { "\(code)" }
    }
}
