/// A byte range of a playlist: RFC 8216bis, section 4.4.4.2.
public struct HLSByteRange: Hashable, Sendable {
    /// Bytes.
    public var length: UInt64
    /// The first byte; `nil` where the text gives none and no range of the same resource precedes it.
    public var offset: UInt64?

    /// The bytes, if the first is known.
    public var range: Range<UInt64>? { offset.map { $0..<($0 + length) } }

    /// Reads `length[@offset]`; `nil` if that is no range of 63-bit offsets, or an empty one.
    static func parse(_ text: some Collection<UInt8>) -> HLSByteRange? {
        let at = text.firstIndex(of: ASCII.at) ?? text.endIndex
        guard let length = NumberText.unsigned(text[..<at]), length > 0 else { return nil }
        guard at != text.endIndex else { return HLSByteRange(length: length, offset: nil) }
        guard let offset = NumberText.unsigned(text[at...].dropFirst()), offset <= UInt64(Int64.max),
            length <= UInt64(Int64.max) - offset
        else { return nil }
        return HLSByteRange(length: length, offset: offset)
    }
}
