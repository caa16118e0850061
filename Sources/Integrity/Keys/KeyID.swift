public import CoreModel

/// The short name of a verification key inside signed data: the first eight bytes of the key's SHA-256 digest.
///
/// It selects among keys that are already trusted and proves nothing by itself.
public struct KeyID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The identifier as a big-endian number.
    public var rawValue: UInt64

    /// Wraps an identifier's number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The identifier of `key`.
    public init(of key: VerificationKey, suite: some CryptoSuite) {
        rawValue = suite.sha256(key.value.bytes.span.bytes).value.words.0
    }

    public static func < (left: KeyID, right: KeyID) -> Bool { left.rawValue < right.rawValue }

    public var description: String { Hexadecimal.encode(rawValue.bigEndianBytes) }
}
