internal import CFFmpeg

/// How a picture's samples lie in memory: the decoder's native format.
public struct PixelFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The value of FFmpeg's `AVPixelFormat` of the library in use; ``name`` is stable across releases.
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// 8 bit, three planes, chroma halved both ways (AV_PIX_FMT_YUV420P).
    public static let yuv420p = PixelFormat(rawValue: AV_PIX_FMT_YUV420P.rawValue)
    /// 10 bit in little-endian 16, three planes, chroma halved both ways (AV_PIX_FMT_YUV420P10LE).
    public static let yuv420p10 = PixelFormat(rawValue: AV_PIX_FMT_YUV420P10LE.rawValue)
    /// 8 bit full range, three planes, chroma halved both ways (AV_PIX_FMT_YUVJ420P).
    public static let yuvj420p = PixelFormat(rawValue: AV_PIX_FMT_YUVJ420P.rawValue)
    /// 8 bit, luma and interleaved chroma halved both ways (AV_PIX_FMT_NV12).
    public static let nv12 = PixelFormat(rawValue: AV_PIX_FMT_NV12.rawValue)

    /// FFmpeg's name, such as `yuv420p10le`.
    public var name: String {
        guard let name = unsafe av_get_pix_fmt_name(AVPixelFormat(rawValue)) else { return "unknown" }
        return unsafe String(cString: name)
    }

    /// Binary logarithm of the horizontal and vertical chroma subsampling.
    public var chromaShift: (horizontal: Int, vertical: Int) {
        guard let descriptor = unsafe av_pix_fmt_desc_get(AVPixelFormat(rawValue)) else { return (0, 0) }
        return unsafe (Int(descriptor.pointee.log2_chroma_w), Int(descriptor.pointee.log2_chroma_h))
    }

    /// Number of planes.
    public var planeCount: Int { max(0, Int(av_pix_fmt_count_planes(AVPixelFormat(rawValue)))) }

    public var description: String { name }
}
