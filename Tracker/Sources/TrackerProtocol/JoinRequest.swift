public import CoreModel

/// What a viewer says of itself when it asks to be admitted to a stream's swarm.
public struct JoinRequest: Hashable, Sendable {
    /// The stream.
    public var stream: StreamID
    /// The X25519 key that names the peer.
    public var peer: PeerID
    /// The Ed25519 key that signs the peer's claims, and this request.
    public var claimKey: VerificationKey
    /// The port where the viewer accepts peers; 0 when it accepts none.
    public var listenPort: UInt16
    /// What the viewer offers.
    public var flags: ViewerFlags
    /// Where playback starts, in milliseconds of the presentation.
    public var startPositionMilliseconds: UInt64
    /// The viewer token, empty without one.
    public var token: [UInt8]
    /// A certificate that this tracker (or one with the same membership key) issued before, empty without one. With it
    /// the viewer keeps its pseudonym and election nonce, and takes its former session over.
    public var previousCertificate: [UInt8]

    /// Makes a request.
    public init(
        stream: StreamID, peer: PeerID, claimKey: VerificationKey, listenPort: UInt16, flags: ViewerFlags = [],
        startPositionMilliseconds: UInt64 = 0, token: [UInt8] = [], previousCertificate: [UInt8] = []
    ) {
        self.stream = stream
        self.peer = peer
        self.claimKey = claimKey
        self.listenPort = listenPort
        self.flags = flags
        self.startPositionMilliseconds = startPositionMilliseconds
        self.token = token
        self.previousCertificate = previousCertificate
    }

    init(from reader: inout WireReader) throws(WireError) {
        stream = StreamID(try reader.bytes16())
        peer = PeerID(try reader.bytes32())
        claimKey = VerificationKey(try reader.bytes32())
        listenPort = try reader.integer()
        flags = ViewerFlags(rawValue: try reader.integer())
        startPositionMilliseconds = try reader.integer()
        token = Array(try reader.prefixed16("token", limit: ControlProtocol.maximumTokenByteCount))
        previousCertificate = Array(
            try reader.prefixed16("previous certificate", limit: ControlProtocol.maximumCertificateByteCount))
    }

    func write(to writer: inout WireWriter) {
        writer.append(stream.value)
        writer.append(peer.publicKey)
        writer.append(claimKey.value)
        writer.integer(listenPort)
        writer.integer(flags.rawValue)
        writer.integer(startPositionMilliseconds)
        writer.prefixed16(token)
        writer.prefixed16(previousCertificate)
    }
}
