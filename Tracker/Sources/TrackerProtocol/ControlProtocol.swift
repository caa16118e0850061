public import CoreModel
import Integrity

/// The numbers of the control protocol between viewers and trackers: version, limits, names.
///
/// The article ControlProtocol describes the protocol in full.
public enum ControlProtocol {
    /// The version this code speaks.
    public static let version: UInt16 = 1

    /// The WebSocket subprotocol (RFC 6455, section 1.9).
    public static let subprotocol = "pdn-control-1"

    /// The longest message in either direction, in bytes. A longer one ends the connection before it is read in full.
    public static let maximumMessageByteCount = 8192

    /// The longest viewer token.
    public static let maximumTokenByteCount = 300

    /// The longest membership certificate.
    public static let maximumCertificateByteCount = 300

    /// The longest swarm secret.
    public static let maximumSwarmSecretByteCount = 64

    /// The longest explanation in an error, in bytes of UTF-8.
    public static let maximumErrorTextByteCount = 200

    /// The most peers that one message names.
    public static let maximumPeerCount = 64

    /// The most members of a front.
    public static let maximumFrontCount = 32

    /// The most remote settings in a welcome.
    public static let maximumSettingCount = 32

    /// The bytes that a viewer's claim key signs to join: the context, the challenge, the stream, the peer's key and the
    /// port it listens on.
    public static func joinStatement(challenge: Bytes32, request: JoinRequest) -> [UInt8] {
        var writer = WireWriter(capacity: 128)
        writer.append(challenge)
        writer.append(request.stream.value)
        writer.append(request.peer.publicKey)
        writer.integer(request.listenPort)
        return SignatureContext.join.message(writer.bytes)
    }
}
