public import CoreModel

/// A Noise handshake (revision 34) of pattern XX or IK with 25519, ChaChaPoly and BLAKE2b.
///
/// The sides take turns: ``writeMessage(payload:)`` when ``isWriting``, else ``readMessage(_:)``. When ``isFinished``,
/// ``transport()`` gives the keys. After an error the handshake is of no use any more.
public struct NoiseHandshake: Sendable {
    private enum Direction { case writing, reading }

    /// The pattern in use.
    public let pattern: NoisePattern
    /// This side.
    public let role: NoiseRole
    /// The other side's static key, once it is known.
    public private(set) var remoteKey: PeerID?
    private var symmetric: NoiseSymmetricState
    private let staticKey: any AgreementKey
    private let ephemeralKey: any AgreementKey
    private var remoteEphemeralKey: Bytes32?
    private var nextMessage = 0

    /// Starts a handshake.
    ///
    /// - Parameters:
    ///   - remoteKey: The responder's key; given to the initiator of IK, and to nobody else.
    ///   - prologue: What both sides must agree on before the first byte.
    ///   - ephemeralSeed: Thirty-two fresh secret random bytes, never used again.
    public init(
        pattern: NoisePattern, role: NoiseRole, staticKey: any AgreementKey, remoteKey: PeerID? = nil,
        prologue: [UInt8], ephemeralSeed: Bytes32, suite: any CryptoSuite
    ) {
        precondition(
            (remoteKey != nil) == (pattern == .ik && role == .initiator), "only IK's initiator knows the other's key")
        self.pattern = pattern
        self.role = role
        self.staticKey = staticKey
        self.remoteKey = remoteKey
        ephemeralKey = suite.agreementKey(seed: ephemeralSeed)
        symmetric = NoiseSymmetricState(protocolName: pattern.protocolName, suite: suite)
        symmetric.mix(hash: prologue)
        if pattern == .ik {
            // The responder's key is IK's pre-message.
            symmetric.mix(hash: (remoteKey?.publicKey ?? staticKey.publicKey).bytes)
        }
    }

    /// Whether the last message has been written or read.
    public var isFinished: Bool { nextMessage == pattern.messages.count }

    /// Whether this side writes the next message.
    public var isWriting: Bool { !isFinished && nextMessage.isMultiple(of: 2) == (role == .initiator) }

    /// The hash of the whole handshake: equal on both sides, and different in each handshake.
    public var handshakeHash: [UInt8] { symmetric.hash }

    /// Makes the next message.
    ///
    /// - Throws: ``NoiseError/weakKey`` when the other side's key gives no secret.
    public mutating func writeMessage(payload: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        precondition(isWriting, "not this side's turn in message \(nextMessage)")
        var message: [UInt8] = []
        for token in pattern.messages[nextMessage] {
            switch token {
            case .e:
                let key = ephemeralKey.publicKey.bytes
                message += key
                symmetric.mix(hash: key)
            case .s: symmetric.encryptAndHash(staticKey.publicKey.bytes, appendingTo: &message)
            case .ee, .es, .se, .ss: try agree(token)
            }
        }
        symmetric.encryptAndHash(payload, appendingTo: &message)
        nextMessage += 1
        return message
    }

    /// Reads the next message.
    ///
    /// - Returns: Its payload.
    /// - Throws: ``NoiseError``; the connection is then to be closed without an answer.
    public mutating func readMessage(_ message: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        precondition(!isFinished && !isWriting, "not the other side's turn in message \(nextMessage)")
        var rest = message
        for token in pattern.messages[nextMessage] {
            switch token {
            case .e:
                let key = try Self.take(32, from: &rest)
                remoteEphemeralKey = Bytes32(key)
                symmetric.mix(hash: key)
            case .s:
                let sealed = try Self.take(32 + symmetric.overhead, from: &rest)
                remoteKey = Bytes32(try symmetric.decryptAndHash(sealed)).map(PeerID.init)
            case .ee, .es, .se, .ss: try agree(token)
            }
        }
        guard rest.count >= symmetric.overhead else { throw .length(message.count) }
        let payload = try symmetric.decryptAndHash(rest)
        nextMessage += 1
        return payload
    }

    /// The transport keys.
    ///
    /// - Precondition: ``isFinished``.
    public func transport() -> NoiseTransport {
        precondition(isFinished, "the handshake stands at message \(nextMessage)")
        let (first, second) = symmetric.split()
        return switch role {
        case .initiator: NoiseTransport(sendingKey: first, receivingKey: second)
        case .responder: NoiseTransport(sendingKey: second, receivingKey: first)
        }
    }

    /// Mixes in a shared secret; the token's first letter is the initiator's key and the second the responder's.
    private mutating func agree(_ token: NoisePattern.Token) throws(NoiseError) {
        let secret: Bytes32? =
            switch (token, role) {
            case (.ee, _): remoteEphemeralKey.flatMap(ephemeralKey.sharedSecret)
            case (.ss, _): remoteKey.flatMap { staticKey.sharedSecret(with: $0.publicKey) }
            case (.es, .initiator), (.se, .responder):
                remoteKey.flatMap { ephemeralKey.sharedSecret(with: $0.publicKey) }
            case (.es, .responder), (.se, .initiator): remoteEphemeralKey.flatMap(staticKey.sharedSecret)
            case (.e, _), (.s, _): preconditionFailure("a key is no agreement")
            }
        guard let secret else { throw .weakKey }
        symmetric.mix(key: secret)
    }

    private static func take(
        _ count: Int, from rest: inout ArraySlice<UInt8>
    ) throws(NoiseError) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw .length(rest.count) }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
