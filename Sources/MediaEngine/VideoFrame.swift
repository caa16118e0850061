internal import CFFmpeg
internal import CFFmpegShims
public import CoreModel

/// One decoded picture. Immutable, and shared without a copy; the memory goes back to the decoder's pool with the last
/// reference.
@safe
public final class VideoFrame: @unchecked Sendable {  // `frame` is never written after `init`.
    /// Presentation time.
    public let time: MediaTime
    /// How long it is shown; estimated from its neighbours where the container does not say.
    public let duration: MediaTime
    /// Size in pixels, cropping applied.
    public let size: PictureSize
    /// Width of a sample over its height; 1 where unknown.
    public let sampleAspectRatio: (width: Int, height: Int)
    /// How the samples lie in memory.
    public let pixelFormat: PixelFormat
    /// How samples become light.
    public let colour: VideoColour
    /// Whether the decoder had to conceal errors in it.
    public let isDamaged: Bool
    private let frame: UnsafeMutablePointer<AVFrame>

    /// Takes the picture out of `source`, which is left empty. Nil when memory is short or the picture is none.
    init?(moving source: UnsafeMutablePointer<AVFrame>, time: MediaTime, duration: MediaTime) {
        guard unsafe source.pointee.width > 0, unsafe source.pointee.height > 0, let frame = unsafe av_frame_alloc()
        else { return nil }
        unsafe av_frame_move_ref(frame, source)
        unsafe self.frame = unsafe frame
        self.time = time
        self.duration = duration
        let picture = unsafe frame.pointee
        size = unsafe PictureSize(width: Int(picture.width), height: Int(picture.height))
        pixelFormat = unsafe PixelFormat(rawValue: picture.format)
        let ratio = unsafe picture.sample_aspect_ratio
        sampleAspectRatio = ratio.num > 0 && ratio.den > 0 ? (Int(ratio.num), Int(ratio.den)) : (1, 1)
        colour = unsafe VideoColour(
            primaries: Int(picture.color_primaries.rawValue), transfer: Int(picture.color_trc.rawValue),
            matrix: Int(picture.colorspace.rawValue),
            isFullRange: picture.color_range == AVCOL_RANGE_JPEG || pixelFormat == .yuvj420p)
        isDamaged = unsafe CFFmpegShims_frameIsCorrupt(frame) != 0
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }

    /// The end of its time on screen.
    public var endTime: MediaTime { time + duration }

    /// Number of planes.
    public var planeCount: Int { pixelFormat.planeCount }

    /// The layout of a plane, without its padding.
    public func layout(ofPlane plane: Int) -> PlaneLayout {
        precondition(plane >= 0 && plane < planeCount, "plane \(plane) of \(planeCount)")
        let isChroma = plane == 1 || plane == 2
        let shift = isChroma ? pixelFormat.chromaShift.vertical : 0
        let rowCount = (size.height + (1 << shift) - 1) >> shift
        let byteCount = av_image_get_linesize(AVPixelFormat(pixelFormat.rawValue), Int32(size.width), Int32(plane))
        let stride = unsafe withUnsafeBytes(of: frame.pointee.linesize) { lines in
            unsafe Int(lines.load(fromByteOffset: plane * MemoryLayout<Int32>.size, as: Int32.self))
        }
        return PlaneLayout(rowByteCount: max(0, Int(byteCount)), rowCount: rowCount, stride: stride)
    }

    /// Lends each row of a plane in turn, without padding, from the top.
    public func forEachRow(ofPlane plane: Int, _ body: (RawSpan) -> Void) {
        let layout = layout(ofPlane: plane)
        guard let base = unsafe planeAddress(plane) else { return }
        for row in 0..<layout.rowCount {
            let bytes = unsafe UnsafeRawBufferPointer(
                start: base.advanced(by: row * layout.stride), count: layout.rowByteCount)
            body(unsafe bytes.bytes)
        }
    }

    /// Lends the memory of a plane, for a texture upload. The pointer is valid inside `body` only; nil when the decoder
    /// gave no such plane. A negative stride means that the first row lies last in memory.
    public func withUnsafePlane<R>(_ plane: Int, _ body: (UnsafeRawPointer?, PlaneLayout) -> R) -> R {
        unsafe body(planeAddress(plane), layout(ofPlane: plane))
    }

    private func planeAddress(_ plane: Int) -> UnsafeRawPointer? {
        unsafe withUnsafeBytes(of: frame.pointee.data) { planes in
            unsafe planes.load(
                fromByteOffset: plane * MemoryLayout<UnsafeRawPointer?>.size, as: UnsafeRawPointer?.self)
        }
    }

    /// Bytes that the samples take without padding; the memory held is a little more.
    public var byteCount: Int {
        (0..<planeCount).reduce(0) { sum, plane in
            let layout = layout(ofPlane: plane)
            return sum + layout.rowByteCount * layout.rowCount
        }
    }
}

/// The rows of one plane.
public struct PlaneLayout: Hashable, Sendable {
    /// Bytes of a row that hold samples.
    public let rowByteCount: Int
    /// Number of rows.
    public let rowCount: Int
    /// Bytes from a row to the next in memory; negative when the picture is stored bottom up.
    public let stride: Int
}

/// Colour description by the code points of ISO/IEC 23091-2 (2 is "unspecified").
public struct VideoColour: Hashable, Sendable {
    public let primaries: Int
    public let transfer: Int
    public let matrix: Int
    /// Samples use the whole range instead of the studio range.
    public let isFullRange: Bool
}
