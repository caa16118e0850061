public import CoreModel

/// Why a tracker is not, or no longer, in use.
public enum TrackerFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection could not be made, or broke; the text is the transport's.
    case connection(String)
    /// No welcome came in time.
    case timeout
    /// Nothing was heard for too long.
    case silent
    /// A message can't be read.
    case malformed(WireError)
    /// A message came that has no place where it came.
    case unexpectedMessage
    /// The tracker speaks other versions of the protocol.
    case unsupportedVersion
    /// The tracker refused.
    case refused(ControlError)
    /// The tracker's certificates are signed by another key than the one the viewer insists on.
    case wrongMembershipKey(VerificationKey)
    /// A fallback was left to try a tracker that stands before it in the list.
    case returningToPreferred

    public var description: String {
        switch self {
        case .connection(let text): text
        case .timeout: "no answer in time"
        case .silent: "nothing heard for too long"
        case .malformed(let error): "malformed message (\(error))"
        case .unexpectedMessage: "unexpected message"
        case .unsupportedVersion: "unsupported version of the control protocol"
        case .refused(let error): "refused: \(error)"
        case .wrongMembershipKey(let key): "the tracker's key is \(key), not the one given"
        case .returningToPreferred: "returning to a preferred tracker"
        }
    }
}
