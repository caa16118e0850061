internal import CoreModel

/// What a rendition is, in the words of its manifest that don't change with viewer, host or list order.
public struct RenditionDescription: Hashable, Sendable {
    /// The kind of manifest, because it decides what a position's numbers mean.
    public enum Format: String, Sendable { case hls, dash }

    /// What the rendition carries.
    public enum Kind: String, Sendable { case muxed, video, audio, text, image }

    /// The kind of manifest.
    public var format: Format
    /// What the rendition carries.
    public var kind: Kind
    /// The codecs as the manifest says them; their order does not matter.
    public var codecs: [String]
    /// The picture's width in pixels.
    public var width: Int?
    /// The picture's height in pixels.
    public var height: Int?
    /// Frames a second, in thousandths, rounded.
    public var frameRateMilli: Int?
    /// The language tag (BCP 47).
    public var language: String?
    /// The audio channels as the manifest says them.
    public var channels: String?
    /// The bandwidth that the manifest declares, in bits per second.
    public var bandwidth: Int?
    /// The name or label.
    public var name: String?
    /// The path of the rendition's own resource below the manifest, without query and tokens; used only where everything
    /// else is the same.
    public var path: String

    /// Describes a rendition.
    public init(
        format: Format, kind: Kind, codecs: [String] = [], width: Int? = nil, height: Int? = nil,
        frameRateMilli: Int? = nil, language: String? = nil, channels: String? = nil, bandwidth: Int? = nil,
        name: String? = nil, path: String = ""
    ) {
        self.format = format
        self.kind = kind
        self.codecs = codecs
        self.width = width
        self.height = height
        self.frameRateMilli = frameRateMilli
        self.language = language
        self.channels = channels
        self.bandwidth = bandwidth
        self.name = name
        self.path = path
    }

    /// The description as one line: `key=value` pairs joined by `;` in a fixed order, absent ones left out, and `%`, `;`,
    /// `=` and control characters in values written as `%XX`.
    ///
    /// - Parameter includingPath: Whether the path is one of the pairs.
    public func canonical(includingPath: Bool) -> String {
        var pairs: [(String, String)] = [("format", format.rawValue), ("kind", kind.rawValue)]
        func add(_ key: String, _ value: String?) {
            if let value, !value.isEmpty { pairs.append((key, value)) }
        }
        add("codecs", codecs.map { $0.lowercased() }.sorted().joined(separator: ","))
        add("width", width.map { String($0) })
        add("height", height.map { String($0) })
        add("rate", frameRateMilli.map { String($0) })
        add("language", language?.lowercased())
        add("channels", channels)
        add("bandwidth", bandwidth.map { String($0) })
        add("name", name)
        if includingPath { add("path", path) }
        return pairs.map { "\($0.0)=\(Self.escape($0.1))" }.joined(separator: ";")
    }

    private static func escape(_ value: String) -> String {
        var escaped: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "%"), UInt8(ascii: ";"), UInt8(ascii: "="), 0..<32, 127:
                escaped.append(UInt8(ascii: "%"))
                escaped.append(contentsOf: Hexadecimal.encode([byte]).uppercased().utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
