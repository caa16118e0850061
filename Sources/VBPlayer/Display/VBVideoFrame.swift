import CoreModel
internal import MediaEngine

#if canImport(CoreMedia)
    public import CoreMedia
#endif

/// One decoded picture with its time. Immutable; its memory goes back to the decoder with the last copy.
public struct VBVideoFrame: Sendable {
    /// How samples lie in memory.
    public enum PixelFormat: Hashable, Sendable {
        /// 8 bit Y, U and V planes, chroma halved both ways.
        case yuv420
        /// 10 bit Y, U and V planes in little-endian 16, chroma halved both ways.
        case yuv420TenBit
        /// 8 bit Y plane and interleaved UV plane, chroma halved both ways.
        case nv12
        /// Another format, by FFmpeg's name of it.
        case other(String)
    }

    /// How samples become light: code points of ISO/IEC 23091-2, where 2 is "unspecified".
    public struct Colour: Hashable, Sendable {
        /// The primaries.
        public var primaries: Int
        /// The transfer function.
        public var transfer: Int
        /// The matrix.
        public var matrix: Int
        /// Whether samples use the whole range and not the studio range.
        public var isFullRange: Bool
    }

    /// The samples of one plane, lent.
    public struct Plane {
        /// The first sample of the first row; valid while it is lent.
        public var baseAddress: UnsafeRawPointer
        /// Bytes from a row to the next; negative when the last row is first in memory.
        public var stride: Int
        /// Bytes of a row that hold samples.
        public var rowByteCount: Int
        /// The number of rows.
        public var rowCount: Int
    }

    let frame: VideoFrame

    init(_ frame: VideoFrame) { self.frame = frame }

    /// When it is shown.
    public var time: CMTime { CMTime(frame.time) }
    /// How long it is shown.
    public var duration: CMTime { CMTime(frame.duration) }
    /// The width in samples.
    public var width: Int { frame.size.width }
    /// The height in samples.
    public var height: Int { frame.size.height }
    /// The width of a sample over its height.
    public var sampleAspectRatio: Double {
        Double(frame.sampleAspectRatio.width) / Double(frame.sampleAspectRatio.height)
    }
    /// How samples become light.
    public var colour: Colour {
        let colour = frame.colour
        return Colour(
            primaries: colour.primaries, transfer: colour.transfer, matrix: colour.matrix,
            isFullRange: colour.isFullRange)
    }
    /// How samples lie in memory.
    public var pixelFormat: PixelFormat {
        switch frame.pixelFormat {
        case .yuv420p, .yuvj420p: .yuv420
        case .yuv420p10: .yuv420TenBit
        case .nv12: .nv12
        case let other: .other(other.name)
        }
    }
    /// The number of planes.
    public var planeCount: Int { frame.planeCount }

    /// Lends the samples of a plane; `nil` when the picture has no such plane.
    public func withPlane<Result>(_ index: Int, _ body: (Plane) -> Result) -> Result? {
        guard (0..<planeCount).contains(index) else { return nil }
        return frame.withUnsafePlane(index) { address, layout in
            address.map {
                body(
                    Plane(
                        baseAddress: $0, stride: layout.stride, rowByteCount: layout.rowByteCount,
                        rowCount: layout.rowCount))
            }
        }
    }
}
