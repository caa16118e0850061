/// Where a segment stands in its rendition, in words that don't change with tokens, hosts or list order.
///
/// Order: by section, then number, then byte offset, then part.
public struct SegmentPosition: Hashable, Comparable, Sendable {
    /// What kind of bytes the position names.
    public enum Kind: UInt8, Sendable {
        /// A media segment, or a part of one.
        case media = 0
        /// An initialisation section (EXT-X-MAP, DASH Initialization).
        case initialization = 1
    }

    /// What kind of bytes this names.
    public var kind: Kind
    /// The HLS discontinuity sequence, or the DASH period's start in milliseconds.
    public var section: UInt64
    /// The HLS media sequence number, or the DASH segment's start time in ticks of its timescale.
    public var number: UInt64
    /// The first byte of the segment within its resource; 0 when it is the whole resource.
    public var byteOffset: UInt64
    /// The part within the segment, counted from 1; 0 for the whole segment.
    public var part: UInt16

    /// Names a position.
    public init(
        kind: Kind = .media, section: UInt64 = 0, number: UInt64, byteOffset: UInt64 = 0, part: UInt16 = 0
    ) {
        self.kind = kind
        self.section = section
        self.number = number
        self.byteOffset = byteOffset
        self.part = part
    }

    private var order: (UInt64, UInt64, UInt64, UInt64, UInt64) {
        (section, number, byteOffset, UInt64(part), UInt64(kind.rawValue))
    }

    public static func < (left: SegmentPosition, right: SegmentPosition) -> Bool { left.order < right.order }
}
