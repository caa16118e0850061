/// The public half of an Ed25519 signing key.
public struct VerificationKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The key's bytes.
    public var value: Bytes32

    /// Wraps thirty-two bytes as a key.
    public init(_ value: Bytes32) { self.value = value }

    /// Reads a key from 64 hexadecimal digits; `nil` for anything else.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = Hexadecimal.decode(text), let value = Bytes32(bytes) else { return nil }
        self.value = value
    }

    public static func < (left: VerificationKey, right: VerificationKey) -> Bool { left.value < right.value }

    /// Sixty-four hexadecimal digits.
    public var description: String { Hexadecimal.encode(value.bytes) }
}
