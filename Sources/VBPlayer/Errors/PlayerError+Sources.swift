import Delivery
import HTTPTransfer
import MediaEngine

extension PlayerError {
    /// What a session's failure is to a viewer.
    init(_ error: SessionError) {
        switch error {
        case .unreachable(let url, let cause):
            let address = redactedURL(url)
            self.init(Self.code(of: cause), "\(address) could not be fetched: \(cause).", underlying: error)
        case .manifest(let url, let cause):
            let address = redactedURL(url)
            self.init(.malformedManifest, "The manifest \(address) can't be used: \(cause)", underlying: error)
        case .nothingPlayable(let reason): self.init(.nothingToPlay, reason, underlying: error)
        case .segmentUnreachable(_, let cause):
            self.init(cause.map(Self.code) ?? .notFound, "\(error)", underlying: error)
        case .contentKey, .undecryptable: self.init(.protectedContent, "\(error)", underlying: error)
        case .setting(let name, let reason):
            let title = SettingDefinition.named(name).map { "\($0.constant) (\(name))" } ?? name
            self.init(.wrongSettingValue, "The setting \(title) is wrong: \(reason)", underlying: error)
        }
    }

    private static func code(of error: HTTPError) -> VBErrorCode {
        switch error {
        case .invalidURL: .wrongAddress
        case .resolve: .unknownHost
        case .refused, .connect, .other: .unreachable
        case .tls, .redirectRefused: .insecureConnection
        case .firstByteTimeout, .stalled: .timedOut
        case .status(404), .status(410): .notFound
        case .status(401), .status(403): .accessDenied
        case .status: .serverFailure
        case .truncated, .wrongLength: .incompleteAnswer
        case .tooLarge: .malformedManifest
        }
    }

    /// What an engine's failure is to a viewer.
    init(_ error: EngineError) {
        let code: VBErrorCode =
            switch error {
            case .unknownContainer, .unsupportedCodec: .unsupportedMedia
            case .missingKey, .unsupportedProtection: .protectedContent
            case .bufferOverflow: .bufferFull
            case .unknownTrack, .outOfResources: .internalFault
            default: .malformedMedia
            }
        self.init(code, "The media can't be played: \(error).", underlying: error)
    }

    /// Why appended data was refused.
    init(_ error: DataError) {
        let code: VBErrorCode =
            switch error {
            case .engineFailed(let cause?): PlayerError(cause).code
            case .afterEndOfStream, .engineFailed(nil): .wrongMoment
            case .fileTooLarge: .bufferFull
            case .notMP4, .malformedBox, .boxTooLarge, .missingInitialization, .noTrack: .malformedMedia
            }
        self.init(code, "The data was not appended: \(error).", underlying: error)
    }
}
