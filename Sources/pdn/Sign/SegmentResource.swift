import CoreModel

/// Bytes that one download brings: what several names of a segment can share.
struct SegmentResource: Hashable, Sendable {
    /// The address.
    var url: String
    /// The bytes within it; `nil` for all.
    var byteRange: Range<UInt64>?

    /// The address without what may be secret in it, for messages.
    var publicName: String { Self.publicName(of: url) + (byteRange.map { " bytes \($0)" } ?? "") }

    /// An address without query and fragment.
    static func publicName(of url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }
}
