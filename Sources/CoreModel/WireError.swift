/// Why bytes from outside don't spell what they should. The reader's owner drops the message and, on a link, the sender.
public enum WireError: Error, Hashable, Sendable {
    /// Fewer bytes than the field needs.
    case truncated(needed: Int, available: Int)
    /// Bytes are left after the last field.
    case trailing(byteCount: Int)
    /// A field's value is outside what the format allows.
    case invalid(field: String)
    /// A count or length is above its limit.
    case tooLarge(field: String, value: Int, limit: Int)
}
