public import CoreModel

/// What a handshake leaves behind: a key and a nonce for each direction, 80 bytes, and no context of a library.
///
/// A nonce is never used twice: it counts up by one per message and 2^64 messages can't be sent. There is no rekeying.
public struct NoiseTransport: Sendable {
    /// Bytes of a message's tag.
    public static let tagByteCount = 16

    private let sendingKey: Bytes32
    private let receivingKey: Bytes32
    private var sent: UInt64 = 0
    private var received: UInt64 = 0

    init(sendingKey: Bytes32, receivingKey: Bytes32) {
        self.sendingKey = sendingKey
        self.receivingKey = receivingKey
    }

    /// Encrypts `first` and then `second` as the next message and appends ciphertext and tag to `output`.
    public mutating func seal(
        _ first: RawSpan, _ second: RawSpan, appendingTo output: inout [UInt8], suite: some CryptoSuite
    ) {
        let nothing: [UInt8] = []
        suite.seal(
            key: sendingKey, nonce: sent, associatedData: nothing.span.bytes, first, second, appendingTo: &output)
        sent += 1
    }

    /// Decrypts the next message and appends its plaintext to `output`.
    ///
    /// - Returns: false, with nothing changed, when the message is not the authentic next one.
    public mutating func open(
        _ message: RawSpan, appendingTo output: inout [UInt8], suite: some CryptoSuite
    ) -> Bool {
        let nothing: [UInt8] = []
        guard
            suite.open(
                key: receivingKey, nonce: received, associatedData: nothing.span.bytes, message, appendingTo: &output)
        else { return false }
        received += 1
        return true
    }
}

/// Says how far the nonces are and never the keys, also when a test or log dumps what holds this.
extension NoiseTransport: CustomStringConvertible, CustomReflectable {
    public var description: String { "NoiseTransport(sent: \(sent), received: \(received))" }

    public var customMirror: Mirror { Mirror(self, children: ["sent": sent, "received": received]) }
}
