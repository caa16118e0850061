/// What each side says first on an established link.
public struct HelloFrame: Hashable, Sendable {
    /// What a peer offers.
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// It uploads. Without this, requests to it are a waste.
        public static let uploads = Flags(rawValue: 1)
    }

    /// The lowest protocol version spoken.
    public var lowestVersion: UInt8
    /// The highest protocol version spoken.
    public var highestVersion: UInt8
    /// What the peer offers; bits without a meaning are ignored.
    public var flags: Flags
    /// The port that the peer listens on; 0 for none.
    public var listenPort: UInt16
    /// Chunks that may be outstanding at this peer: what it queues before it answers "busy".
    public var queueLimit: UInt16
    /// The certificate of XX's responder, which no handshake message carries; empty otherwise.
    public var certificate: ArraySlice<UInt8>

    /// Makes the frame.
    public init(
        lowestVersion: UInt8, highestVersion: UInt8, flags: Flags, listenPort: UInt16, queueLimit: UInt16,
        certificate: ArraySlice<UInt8> = []
    ) {
        self.lowestVersion = lowestVersion
        self.highestVersion = highestVersion
        self.flags = flags
        self.listenPort = listenPort
        self.queueLimit = queueLimit
        self.certificate = certificate
    }
}
