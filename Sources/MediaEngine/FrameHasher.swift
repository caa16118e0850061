internal import CFFmpeg
import CoreModel

/// MD5 of pictures, as `ffmpeg -f framemd5` computes it for rawvideo in the decoder's pixel format: over the planes in
/// order, each row without its padding.
@safe
public struct FrameHasher: ~Copyable {
    private let context: OpaquePointer

    /// Makes a hasher. Nil when memory is short.
    public init?() {
        guard let context = unsafe av_md5_alloc() else { return nil }
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe av_free(UnsafeMutableRawPointer(context))
    }

    /// The lines that precede the frames, in the form of `framemd5`, with the time base of ``line(for:stream:)``.
    public static var header: String {
        """
        #format: frame checksums
        #version: 2
        #hash: MD5
        #tb 0: 1/\(timescale)
        #media_type 0: video
        #codec_id 0: rawvideo
        #stream#, dts,        pts, duration,     size, hash

        """
    }

    /// Ticks per second of the times in a line.
    public static let timescale: Int64 = 90_000

    /// The picture's hash, 32 lower-case hexadecimal digits. O(bytes of the picture).
    public func digest(of frame: VideoFrame) -> String {
        unsafe av_md5_init(context)
        for plane in 0..<frame.planeCount {
            frame.forEachRow(ofPlane: plane) { row in
                unsafe row.withUnsafeBytes { bytes in
                    unsafe av_md5_update(context, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
                }
            }
        }
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe digest.withUnsafeMutableBufferPointer { unsafe av_md5_final(context, $0.baseAddress) }
        return Hexadecimal.encode(digest)
    }

    /// The picture's line: stream, dts, pts, duration, size, hash. Times are in ``timescale``, of the presentation.
    public func line(for frame: VideoFrame, stream: Int = 0) -> String {
        func padded(_ value: Int64, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: " ", count: max(0, width - text.count)) + text
        }
        let time = padded(frame.time.ticks(at: Self.timescale), 10)
        let duration = padded(frame.duration.ticks(at: Self.timescale), 8)
        return "\(stream), \(time), \(time), \(duration), \(padded(Int64(frame.byteCount), 8)), \(digest(of: frame))"
    }
}
