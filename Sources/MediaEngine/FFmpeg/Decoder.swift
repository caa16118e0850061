internal import CFFmpeg
internal import CFFmpegShims
import CoreModel

/// Decodes one elementary stream. Confined to the track's thread.
@safe
final class Decoder {
    /// What taking a frame gave.
    enum Output {
        /// A frame is in ``frame``.
        case frame
        case needsInput
        /// Everything was given out after ``drain()``.
        case ended
        /// The input was damaged; the decoder goes on.
        case damaged
    }

    private var context: UnsafeMutablePointer<AVCodecContext>?
    /// The last frame taken; whoever wants to keep it moves it out.
    let frame: UnsafeMutablePointer<AVFrame>

    /// Pixels of a picture: 8192 by 4608. Media that says more would take gigabytes for the pictures it refers to.
    private static let maximumPixelCount: Int64 = 8192 * 4608

    /// Opens a decoder for the stream.
    ///
    /// - Parameter firstPacket: tells what an MPEG-TS does not declare ahead: whether H.264 states its reordering depth.
    init(stream: UnsafeMutablePointer<AVStream>, firstPacket: borrowing Packet, threadCount: Int, track: Int)
        throws(EngineError)
    {
        guard let parameters = unsafe stream.pointee.codecpar else { throw .outOfResources }
        let codecID = unsafe parameters.pointee.codec_id
        let name = unsafe String(cString: avcodec_get_name(codecID))
        guard Self.supportedCodecs.contains(where: { $0 == codecID }), let codec = unsafe avcodec_find_decoder(codecID)
        else { throw .unsupportedCodec(track: track, name: name) }
        guard let context = unsafe avcodec_alloc_context3(codec), let frame = unsafe av_frame_alloc() else {
            throw .outOfResources
        }
        unsafe self.frame = unsafe frame
        unsafe self.context = unsafe context
        unsafe context.pointee.pkt_timebase = unsafe stream.pointee.time_base
        guard unsafe avcodec_parameters_to_context(context, parameters) >= 0 else { throw .outOfResources }
        if unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO {
            unsafe context.pointee.thread_count = Int32(min(max(threadCount, 1), 16))
            unsafe context.pointee.thread_type = CFFmpegShims_threadTypes()
            unsafe context.pointee.framerate = unsafe stream.pointee.avg_frame_rate
            unsafe context.pointee.max_pixels = Self.maximumPixelCount
        } else {
            unsafe context.pointee.thread_count = 1
        }
        if codecID == AV_CODEC_ID_H264, unsafe Self.reorderingIsUnstated(parameters, firstPacket) {
            // Without a stated depth the decoder would guess, and give the first frames in a wrong order; in this mode it
            // waits for the depth that the level allows.
            unsafe context.pointee.strict_std_compliance = CFFmpegShims_strictCompliance()
        }
        let result = unsafe avcodec_open2(context, codec, nil)
        guard result >= 0 else { throw .unsupportedCodec(track: track, name: name) }
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
        unsafe avcodec_free_context(&context)
    }

    /// The codecs of HLS and DASH; whatever else the library knows stays out of reach.
    private static let supportedCodecs: [AVCodecID] = [
        AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AV1, AV_CODEC_ID_VP9, AV_CODEC_ID_VP8, AV_CODEC_ID_MPEG2VIDEO,
        AV_CODEC_ID_MPEG4, AV_CODEC_ID_AAC, AV_CODEC_ID_AAC_LATM, AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_AC3,
        AV_CODEC_ID_EAC3, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_VORBIS,
    ]

    private static func reorderingIsUnstated(
        _ parameters: UnsafePointer<AVCodecParameters>, _ firstPacket: borrowing Packet
    ) -> Bool {
        let header: UnsafeBufferPointer<UInt8>
        if let extradata = unsafe parameters.pointee.extradata, unsafe parameters.pointee.extradata_size > 0 {
            unsafe header = unsafe UnsafeBufferPointer(start: extradata, count: Int(parameters.pointee.extradata_size))
        } else {
            unsafe header = unsafe UnsafeBufferPointer(
                start: firstPacket.pointer.pointee.data, count: firstPacket.byteCount)
        }
        // A sequence parameter set lies at the front; what follows it doesn't matter.
        let front = unsafe Array(header.prefix(4 << 10))
        return H264Reordering(front) == .unstated
    }

    /// Hands a packet in. False when output must be taken first.
    func send(_ packet: borrowing Packet) -> SendResult {
        result(unsafe avcodec_send_packet(context, packet.pointer))
    }

    /// Tells that no packet follows: what the decoder holds back comes out.
    func drain() {
        unsafe _ = avcodec_send_packet(context, nil)
    }

    /// Forgets everything after a drain, so that packets of a new stretch can follow.
    func reset() {
        unsafe avcodec_flush_buffers(context)
    }

    /// Hands over what was the result of a packet.
    enum SendResult {
        case accepted, full, damaged
    }

    private func result(_ code: Int32) -> SendResult {
        if code >= 0 { return .accepted }
        return code == LibraryCode.again.rawValue ? .full : .damaged
    }

    /// Takes the next frame out.
    func receive() -> Output {
        let code = unsafe avcodec_receive_frame(context, frame)
        return switch LibraryCode(rawValue: code) {
        case _ where code >= 0: .frame
        case .again: .needsInput
        case .endOfFile: .ended
        default: .damaged
        }
    }

    /// Presentation time of ``frame`` in the stream's time base.
    var frameTimestamp: Int64? {
        let best = unsafe frame.pointee.best_effort_timestamp
        if best != noTimestamp { return best }
        let pts = unsafe frame.pointee.pts
        return pts != noTimestamp ? pts : nil
    }

    /// Duration of ``frame`` in the stream's time base; 0 where unknown.
    var frameDuration: Int64 { max(0, unsafe CFFmpegShims_frameDuration(frame)) }
}
