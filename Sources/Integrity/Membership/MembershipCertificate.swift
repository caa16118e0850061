public import CoreModel

/// A tracker's statement that a peer was admitted to a swarm: without one, no peer is served.
public struct MembershipCertificate: Hashable, Sendable {
    /// What a certificate says beside names and times.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt16

        /// Wraps bits; unknown ones are kept and mean nothing.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The peer only downloads: nobody expects bytes of it, and its claims don't count.
        public static let leechOnly = Flags(rawValue: 1)
        /// The peer can be reached from outside at its observed address.
        public static let isReachable = Flags(rawValue: 2)
    }

    /// The peer: its X25519 key, which the handshake proves.
    public var peer: PeerID
    /// The Ed25519 key that signs the peer's claims.
    public var claimKey: VerificationKey
    /// The swarm it was admitted to.
    public var swarm: SwarmID
    /// The address the tracker saw it at, as ``NetworkAddress/host``.
    public var observedHost: Bytes16
    /// A name for the credential behind the peer, the same after a reload, so that bans and quotas survive it.
    public var pseudonym: Bytes16
    /// Random bytes of the tracker's from which elections draw: the peer can't choose its luck.
    public var nonce: Bytes16
    /// When it begins to count; whole seconds.
    public var notBefore: UnixTime
    /// When it stops counting; whole seconds.
    public var expires: UnixTime
    /// What else is true of the peer.
    public var flags: Flags
    /// The membership key that signed.
    public private(set) var keyID: KeyID
    /// The signature over everything else.
    public private(set) var signature: Signature

    /// The format's version: the first byte.
    public static let version: UInt8 = 1
    /// The bytes of an encoding.
    public static let encodedByteCount = 223
    /// How far the clocks of tracker and peer may differ.
    public static let clockTolerance = Duration.seconds(60)

    /// Issues a certificate.
    ///
    /// - Precondition: `key` is a membership key.
    public init(
        peer: PeerID, claimKey: VerificationKey, swarm: SwarmID, observedHost: Bytes16, pseudonym: Bytes16,
        nonce: Bytes16, notBefore: UnixTime, expires: UnixTime, flags: Flags = [], signedBy key: RoleKey
    ) {
        self.peer = peer
        self.claimKey = claimKey
        self.swarm = swarm
        self.observedHost = observedHost
        self.pseudonym = pseudonym
        self.nonce = nonce
        self.notBefore = UnixTime(seconds: max(0, notBefore.seconds))
        self.expires = UnixTime(seconds: max(0, expires.seconds))
        self.flags = flags
        keyID = key.id
        signature = Signature(first: .zero, second: .zero)
        signature = key.sign(statement, as: .certificate)
    }

    /// What is signed: everything before the signature.
    private var statement: [UInt8] {
        var writer = WireWriter(capacity: Self.encodedByteCount)
        writer.integer(Self.version)
        writer.append(peer.publicKey)
        writer.append(claimKey.value)
        writer.append(swarm.bytes)
        writer.append(observedHost)
        writer.append(pseudonym)
        writer.append(nonce)
        writer.append(seconds: notBefore)
        writer.append(seconds: expires)
        writer.integer(flags.rawValue)
        writer.integer(keyID.rawValue)
        return writer.bytes
    }

    /// The bytes that are sent.
    public var encoded: [UInt8] { statement + signature.bytes }

    /// Reads the next certificate, without checking its signature.
    public init(from reader: inout WireReader) throws(WireError) {
        guard try reader.integer(UInt8.self) == Self.version else { throw .invalid(field: "certificate version") }
        peer = PeerID(try reader.bytes32())
        claimKey = VerificationKey(try reader.bytes32())
        guard let swarm = SwarmID(try reader.slice(20)) else { throw .invalid(field: "swarm") }
        self.swarm = swarm
        observedHost = try reader.bytes16()
        pseudonym = try reader.bytes16()
        nonce = try reader.bytes16()
        notBefore = try reader.seconds("not before")
        expires = try reader.seconds("expires")
        flags = Flags(rawValue: try reader.integer())
        keyID = KeyID(rawValue: try reader.integer())
        signature = try reader.signature()
    }

    /// Reads a certificate from exactly these bytes, without checking its signature.
    public init(decoding bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }

    /// Checks that a membership key admitted the peer to a swarm, and that the admission counts now.
    ///
    /// - Parameters:
    ///   - keys: The membership keys that are trusted.
    ///   - swarm: The swarm the caller is in.
    ///   - now: The caller's idea of the time.
    ///   - grace: How long after its end a certificate is still good; more than nothing while no tracker answers.
    public func verify(
        trusting keys: some Collection<VerificationKey>, swarm: SwarmID, now: UnixTime, grace: Duration = .zero,
        suite: some CryptoSuite
    ) throws(CertificateError) {
        guard swarm == self.swarm else { throw .foreignSwarm(self.swarm) }
        guard notBefore <= now + Self.clockTolerance else { throw .notYetValid }
        guard now <= expires + Self.clockTolerance + grace else { throw .expired }
        guard let key = keys.first(where: { KeyID(of: $0, suite: suite) == keyID }) else { throw .unknownKey(keyID) }
        guard SignatureContext.certificate.isValid(signature, of: statement, by: key, suite: suite) else {
            throw .invalidSignature
        }
    }
}

/// Why a certificate is refused.
public enum CertificateError: Error, Equatable, Sendable {
    /// It is for another swarm.
    case foreignSwarm(SwarmID)
    /// It counts only later.
    case notYetValid
    /// It no longer counts.
    case expired
    /// No trusted membership key signed it.
    case unknownKey(KeyID)
    /// The signature is not that key's.
    case invalidSignature
}
