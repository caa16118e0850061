public import CoreModel

/// EXT-X-KEY or EXT-X-SESSION-KEY: RFC 8216bis, section 4.4.4.4.
public struct HLSKey: Hashable, Sendable {
    /// How segments are encrypted, `AES-128` or another method; never `NONE`.
    public var method: String
    /// Where the key is, resolved.
    public var uri: String?
    /// The initialization vector as written.
    public var initializationVectorText: String?
    /// The initialization vector right-aligned in 16 bytes; `nil` if there is none, or none that is a number.
    public var initializationVector: [UInt8]?
    /// How the key is represented; `identity` unless given.
    public var keyFormat: String
    /// Versions of the format, as written.
    public var keyFormatVersions: String?
    /// KEYID: the key's identifier in common encryption, which several key systems write; `nil` if absent or none.
    public var keyID: Bytes16?

    /// Whether whole segments are encrypted, so that an IV belongs to each.
    public var encryptsWholeSegments: Bool { Encryption.resourceMethods.contains(method) && method != "AES-256-GCM" }

    /// The vector that decrypts the segment of this media sequence number: its own, or the number in 16 bytes in network
    /// order; `nil` if the method encrypts samples.
    public func effectiveInitializationVector(mediaSequence: UInt64) -> [UInt8]? {
        encryptsWholeSegments ? initializationVector ?? Self.vector(mediaSequence) : nil
    }

    /// The vector of a segment whose key names none: its media sequence number in network order (section 5.2).
    static func vector(_ mediaSequence: UInt64) -> [UInt8] { Bytes16(high: 0, low: mediaSequence).bytes }

    /// A hexadecimal sequence of up to 32 digits as 16 bytes, right-aligned.
    static func vector(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count > 2, digits.count <= 34, digits[0] == ASCII.zero, digits[1] | 0x20 == UInt8(ascii: "x")
        else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        for (position, digit) in digits[2...].reversed().enumerated() {
            guard let value = ASCII.hexadecimalValue(digit) else { return nil }
            bytes[15 - position / 2] |= position % 2 == 0 ? value : value << 4
        }
        return bytes
    }
}
