public import CoreModel

/// An operator's permission for one viewer to join one stream's swarm. It goes to the tracker only, never to peers.
public struct ViewerToken: Hashable, Sendable {
    /// The stream it opens.
    public var stream: StreamID
    /// The viewer, hashed: see ``hash(ofViewer:stream:suite:)``.
    public var viewer: Bytes16
    /// How many sessions of the viewer may run at a time; at least 1.
    public var sessionLimit: UInt16
    /// When it was made; whole seconds.
    public var issued: UnixTime
    /// When it stops counting; whole seconds.
    public var expires: UnixTime
    /// Random bytes that tell apart tokens of one viewer.
    public var nonce: UInt64
    /// The secret that the swarm's identifier is derived with; `nil` for the empty one.
    public var swarmSecret: Bytes32?
    /// The token key that signed.
    public private(set) var keyID: KeyID
    /// The signature over everything else.
    public private(set) var signature: Signature

    /// The format's version: the first byte.
    public static let version: UInt8 = 1
    /// The most bytes of an encoding.
    public static let maximumByteCount = 164
    /// How far the clocks of operator and tracker may differ.
    public static let clockTolerance = Duration.seconds(60)

    /// Mints a token.
    ///
    /// - Precondition: `key` is a token key.
    public init(
        stream: StreamID, viewer: Bytes16, sessionLimit: UInt16 = 1, issued: UnixTime, expires: UnixTime,
        nonce: UInt64, swarmSecret: Bytes32? = nil, signedBy key: RoleKey
    ) {
        self.stream = stream
        self.viewer = viewer
        self.sessionLimit = max(1, sessionLimit)
        self.issued = UnixTime(seconds: max(0, issued.seconds))
        self.expires = UnixTime(seconds: max(0, expires.seconds))
        self.nonce = nonce
        self.swarmSecret = swarmSecret
        keyID = key.id
        signature = Signature(first: .zero, second: .zero)
        signature = key.sign(statement, as: .token)
    }

    /// The hash that stands for a viewer's name in tokens of one stream; another stream's tell nothing about it.
    public static func hash(ofViewer name: String, stream: StreamID, suite: some CryptoSuite) -> Bytes16 {
        let message = Array("pdn/1 viewer\0".utf8) + stream.value.bytes + Array(name.utf8)
        let words = suite.sha256(message.span.bytes).value.words
        return Bytes16(high: words.0, low: words.1)
    }

    /// What is signed: everything before the signature.
    private var statement: [UInt8] {
        var writer = WireWriter(capacity: Self.maximumByteCount)
        writer.integer(Self.version)
        writer.append(stream.value)
        writer.append(viewer)
        writer.integer(sessionLimit)
        writer.append(seconds: issued)
        writer.append(seconds: expires)
        writer.integer(nonce)
        writer.integer(UInt8(swarmSecret == nil ? 0 : 1))
        if let swarmSecret { writer.append(swarmSecret) }
        writer.integer(keyID.rawValue)
        return writer.bytes
    }

    /// The bytes that are sent.
    public var encoded: [UInt8] { statement + signature.bytes }

    /// The bytes as base64url text without padding (RFC 4648, section 5), as options and settings carry it.
    public var text: String { Base64URL.encode(encoded) }

    /// Reads a token from exactly these bytes, without checking its signature.
    public init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        guard try reader.integer(UInt8.self) == Self.version else { throw .invalid(field: "token version") }
        stream = StreamID(try reader.bytes16())
        viewer = try reader.bytes16()
        sessionLimit = try reader.integer()
        guard sessionLimit > 0 else { throw .invalid(field: "session limit") }
        issued = try reader.seconds("issued")
        expires = try reader.seconds("expires")
        nonce = try reader.integer()
        switch try reader.integer(UInt8.self) {
        case 0: swarmSecret = nil
        case 1: swarmSecret = try reader.bytes32()
        default: throw .invalid(field: "secret")
        }
        keyID = KeyID(rawValue: try reader.integer())
        signature = try reader.signature()
        try reader.finish()
    }

    /// Reads a token's text, without checking its signature; white space at its ends is left out.
    public init(text: String) throws(WireError) {
        let trimmed = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        guard trimmed.count <= 400, let bytes = Base64URL.decode(String(trimmed)) else {
            throw .invalid(field: "token text")
        }
        try self.init(decoding: bytes[...])
    }

    /// Checks that a token key gave the permission for a stream, and that it counts now.
    ///
    /// - Parameter stream: The stream that is asked for; `nil` when the token decides.
    public func verify(
        trusting keys: some Collection<VerificationKey>, stream: StreamID?, now: UnixTime, suite: some CryptoSuite
    ) throws(TokenError) {
        if let stream, stream != self.stream { throw .foreignStream(self.stream) }
        guard issued <= now + Self.clockTolerance else { throw .notYetValid }
        guard now <= expires + Self.clockTolerance else { throw .expired }
        guard let key = keys.first(where: { KeyID(of: $0, suite: suite) == keyID }) else { throw .unknownKey(keyID) }
        guard SignatureContext.token.isValid(signature, of: statement, by: key, suite: suite) else {
            throw .invalidSignature
        }
    }
}

/// Why a token is refused.
public enum TokenError: Error, Equatable, Sendable {
    /// It is for another stream.
    case foreignStream(StreamID)
    /// It counts only later.
    case notYetValid
    /// It no longer counts.
    case expired
    /// No trusted token key signed it.
    case unknownKey(KeyID)
    /// The signature is not that key's.
    case invalidSignature
}
