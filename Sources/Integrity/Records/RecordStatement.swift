public import CoreModel

/// What an authority says about one segment: these bytes stand under this name.
public struct RecordStatement: Hashable, Sendable {
    /// The name.
    public var name: SegmentName
    /// The segment's length in ticks; 0 for an initialisation section.
    public var durationTicks: UInt64
    /// Ticks per second; never 0.
    public var durationTimescale: UInt32
    /// The segment's size, cut into chunks and stripes.
    public var geometry: SegmentGeometry
    /// The root of its tree.
    public var root: Digest

    /// The format's version: the first byte.
    public static let version: UInt8 = 1
    /// The bytes of the encoding.
    public static let encodedByteCount = 104

    /// Makes a statement.
    ///
    /// - Parameter duration: Not negative; rounded down to 90,000 ticks a second when its own timescale takes more than 32
    ///   bits.
    public init(name: SegmentName, duration: MediaTime, geometry: SegmentGeometry, root: Digest) {
        precondition(duration >= .zero, "a segment's duration is not negative")
        let timescale = UInt32(exactly: duration.timescale) ?? 90_000
        self.name = name
        durationTicks = UInt64(duration.ticks(at: Int64(timescale)))
        durationTimescale = timescale
        self.geometry = geometry
        self.root = root
    }

    /// The segment's length.
    public var duration: MediaTime {
        MediaTime(ticks: Int64(clamping: durationTicks), timescale: Int64(durationTimescale))
    }

    /// The bytes that are signed and sent.
    public var encoded: [UInt8] {
        var writer = WireWriter(capacity: Self.encodedByteCount)
        encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout WireWriter) {
        writer.integer(Self.version)
        writer.append(name.stream.value)
        writer.integer(name.epoch)
        writer.integer(name.rendition.rawValue)
        writer.append(name.position)
        writer.integer(durationTicks)
        writer.integer(durationTimescale)
        writer.integer(UInt32(geometry.byteCount))
        writer.append(root)
    }

    /// Reads the next statement.
    public init(from reader: inout WireReader) throws(WireError) {
        guard try reader.integer(UInt8.self) == Self.version else { throw .invalid(field: "record version") }
        let stream = StreamID(try reader.bytes16())
        let epoch: UInt32 = try reader.integer()
        let rendition = RenditionKey(rawValue: try reader.integer())
        let position = try reader.segmentPosition()
        durationTicks = try reader.integer()
        durationTimescale = try reader.integer()
        guard durationTimescale > 0, durationTicks <= UInt64(Int64.max) else { throw .invalid(field: "duration") }
        let byteCount: UInt32 = try reader.integer()
        guard let geometry = SegmentGeometry(byteCount: Int(byteCount)) else { throw .invalid(field: "byte count") }
        self.geometry = geometry
        root = try reader.digest()
        name = SegmentName(stream: stream, epoch: epoch, rendition: rendition, position: position)
    }
}
