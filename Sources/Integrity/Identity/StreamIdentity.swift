public import CoreModel

/// How streams and swarms get their identifiers.
public enum StreamIdentity {
    /// The stream of an operator's name: the same for all manifests of one title.
    public static func stream(named name: String, suite: some CryptoSuite) -> StreamID {
        identifier(Array("pdn/1 stream name\0".utf8) + Array(name.utf8), suite: suite)
    }

    /// The stream of a title that an authority signed, where nobody gave it a name.
    public static func stream(authority: VerificationKey, title: String, suite: some CryptoSuite) -> StreamID {
        identifier(Array("pdn/1 stream title\0".utf8) + authority.value.bytes + Array(title.utf8), suite: suite)
    }

    /// The swarm in which a stream's viewers meet.
    ///
    /// - Parameter secret: From the token or from the tracker on admission; empty with open admission.
    public static func swarm(of stream: StreamID, secret: [UInt8], suite: some CryptoSuite) -> SwarmID {
        let derived = suite.hmacBLAKE2b(key: secret, Array("pdn/1 swarm\0".utf8) + stream.value.bytes)
        guard let swarm = SwarmID(derived.prefix(20)) else { preconditionFailure("HMAC-BLAKE2b gives 64 bytes") }
        return swarm
    }

    private static func identifier(_ message: [UInt8], suite: some CryptoSuite) -> StreamID {
        let words = suite.sha256(message.span.bytes).value.words
        return StreamID(Bytes16(high: words.0, low: words.1))
    }
}
