internal import CFFmpeg
internal import CFFmpegShims
public import CoreModel

/// A run of decoded audio samples. Immutable, and shared without a copy.
@safe
public final class AudioBlock: @unchecked Sendable {  // `frame` is never written after `init`.
    /// Presentation time of the first sample.
    public let time: MediaTime
    /// Samples per channel; priming and padding that the container declares are already taken off.
    public let sampleCount: Int
    /// Samples per second and channel.
    public let sampleRate: Int
    /// Number of channels.
    public let channelCount: Int
    private let frame: UnsafeMutablePointer<AVFrame>

    /// Takes the samples out of `source`, which is left empty. Nil when memory is short or there are none.
    init?(moving source: UnsafeMutablePointer<AVFrame>, time: MediaTime) {
        guard unsafe source.pointee.nb_samples > 0, unsafe source.pointee.sample_rate > 0,
            let frame = unsafe av_frame_alloc()
        else { return nil }
        unsafe av_frame_move_ref(frame, source)
        unsafe self.frame = unsafe frame
        self.time = time
        sampleCount = unsafe Int(frame.pointee.nb_samples)
        sampleRate = unsafe Int(frame.pointee.sample_rate)
        channelCount = unsafe Int(CFFmpegShims_frameChannelCount(frame))
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }

    /// How long the samples last.
    public var duration: MediaTime { MediaTime(ticks: Int64(sampleCount), timescale: Int64(sampleRate)) }
    /// Presentation time after the last sample.
    public var endTime: MediaTime { time + duration }

    /// FFmpeg's name of the sample format, such as `fltp`; a trailing `p` means one plane per channel.
    public var sampleFormat: String {
        guard let name = unsafe av_get_sample_fmt_name(AVSampleFormat(frame.pointee.format)) else { return "unknown" }
        return unsafe String(cString: name)
    }

    /// Lends the samples of a channel (planar formats) or of all channels interleaved (plane 0).
    public func withPlane<R>(_ plane: Int, _ body: (RawSpan) -> R) -> R? {
        let format = unsafe AVSampleFormat(frame.pointee.format)
        let isPlanar = av_sample_fmt_is_planar(format) != 0
        guard plane >= 0, plane < (isPlanar ? channelCount : 1), let planes = unsafe frame.pointee.extended_data,
            let base = unsafe planes[plane]
        else { return nil }
        let byteCount = sampleCount * Int(av_get_bytes_per_sample(format)) * (isPlanar ? 1 : channelCount)
        return body(unsafe UnsafeRawBufferPointer(start: base, count: byteCount).bytes)
    }
}
