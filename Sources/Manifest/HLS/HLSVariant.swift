public import CoreModel

/// EXT-X-STREAM-INF or EXT-X-I-FRAME-STREAM-INF: RFC 8216bis, sections 4.4.6.2 and 4.4.6.3.
public struct HLSVariant: Hashable, Sendable {
    /// The line of the tag.
    public var line: Int
    /// The media playlist, resolved.
    public var uri: String
    /// The attributes.
    public var attributes: HLSAttributeList

    /// The peak bit rate in bit/s; `nil` if it is missing or no number.
    public var bandwidth: UInt64? { attributes["BANDWIDTH"]?.unsignedNumber }
    /// The mean bit rate in bit/s.
    public var averageBandwidth: UInt64? { attributes["AVERAGE-BANDWIDTH"]?.unsignedNumber }
    /// The formats of its media, as written.
    public var codecs: String? { attributes["CODECS"] }
    /// The greatest frame rate.
    public var frameRate: MediaTime? { attributes["FRAME-RATE"]?.decimalNumber }
    /// Width and height in pixels.
    public var resolution: (width: Int, height: Int)? {
        guard let text = attributes["RESOLUTION"] else { return nil }
        let sides = text.utf8.split(separator: UInt8(ascii: "x"), maxSplits: 1)
        guard sides.count == 2, let width = NumberText.unsigned(sides[0]), let height = NumberText.unsigned(sides[1]),
            width <= 1 << 20, height <= 1 << 20
        else { return nil }
        return (Int(width), Int(height))
    }
}
