public import CoreModel

/// EXT-X-START: RFC 8216bis, section 4.4.2.2.
public struct HLSStart: Hashable, Sendable {
    /// Seconds from the beginning, or before the end when negative.
    public var timeOffset: MediaTime
    /// Whether what lies before the point in its segment is to be left out.
    public var isPrecise: Bool
}

/// EXT-X-DEFINE: RFC 8216bis, section 4.4.2.3.
public struct HLSDefine: Hashable, Sendable {
    /// The attributes as written.
    public var attributes: HLSAttributeList
}

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

    /// Whether whole segments are encrypted, so that an IV belongs to each.
    public var encryptsWholeSegments: Bool { method == "AES-128" || method == "AES-256" }

    /// The vector that decrypts the segment of this media sequence number: its own, or the number in 16 bytes in network
    /// order; `nil` if the method encrypts samples.
    public func effectiveInitializationVector(mediaSequence: UInt64) -> [UInt8]? {
        guard encryptsWholeSegments else { return nil }
        if let initializationVector { return initializationVector }
        return [UInt8](repeating: 0, count: 8)
            + (0..<8).map { UInt8(truncatingIfNeeded: mediaSequence >> (56 - $0 * 8)) }
    }

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

/// A byte range of a playlist: RFC 8216bis, section 4.4.4.2.
public struct HLSByteRange: Hashable, Sendable {
    /// Bytes.
    public var length: UInt64
    /// The first byte; `nil` where the text gives none and no range of the same resource precedes it.
    public var offset: UInt64?

    /// The bytes, if the first is known.
    public var range: Range<UInt64>? { offset.map { $0..<($0 + length) } }

    /// Reads `length[@offset]`; `nil` if that is no range of 64-bit offsets.
    static func parse(_ text: some Collection<UInt8>) -> HLSByteRange? {
        let at = text.firstIndex(of: ASCII.at) ?? text.endIndex
        guard let length = NumberText.unsigned(text[..<at]) else { return nil }
        guard at != text.endIndex else { return HLSByteRange(length: length, offset: nil) }
        guard let offset = NumberText.unsigned(text[at...].dropFirst()), offset <= UInt64(Int64.max),
            length <= UInt64(Int64.max) - offset
        else { return nil }
        return HLSByteRange(length: length, offset: offset)
    }
}

/// A date as a playlist wrote it.
public struct HLSDate: Hashable, Sendable {
    /// The text.
    public var text: String
    /// What it says; a date without a zone is taken as UTC. `nil` if it is no date.
    public var time: UnixTime?
}
