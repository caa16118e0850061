internal import CFFmpeg
internal import CFFmpegShims
import CoreModel

/// Takes a container from a byte source apart into packets.
///
/// Reading blocks in the source until bytes come; the source cancels it. Nothing is probed: the container is known, and
/// no byte is read that the next packet does not need. Confined to the track's thread.
@safe
final class Demuxer {
    /// What a stream of the container holds.
    struct Stream {
        var kind: TrackKind?
        var timeBase: (numerator: Int64, denominator: Int64)
        var size: PictureSize?

        /// A time in the stream's time base as media time; nil when it is absurd.
        func mediaTime(_ ticks: Int64) -> MediaTime? {
            let (scaled, overflow) = ticks.multipliedReportingOverflow(by: timeBase.numerator)
            return overflow ? nil : MediaTime(ticks: scaled, timescale: timeBase.denominator)
        }
    }

    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var io: UnsafeMutablePointer<AVIOContext>?
    private let source: ByteSource

    /// Streams a container may declare; the ones beyond are an error.
    private static let maximumStreamCount: Int32 = 64
    private static let ioBufferByteCount: Int32 = 32 << 10

    /// Opens the container, reading its header from `source`.
    init(container: Container, source: ByteSource) throws(LibraryCode) {
        _ = silenceLibraryLog
        self.source = source
        guard let format = unsafe av_find_input_format(container.demuxerName) else { throw .invalidArgument }
        unsafe io = try Self.makeIO(source)
        guard let context = unsafe avformat_alloc_context() else {
            close()
            throw .noMemory
        }
        unsafe context.pointee.pb = unsafe io
        unsafe context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        unsafe context.pointee.probesize = 4 * 188
        unsafe context.pointee.max_analyze_duration = 0
        // Wrapped 33-bit timestamps are unfolded by the track, against the section's other tracks.
        unsafe context.pointee.correct_ts_overflow = 0
        unsafe CFFmpegShims_confine(context, Self.maximumStreamCount)
        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        let result = unsafe avformat_open_input(&opened, nil, format, nil)
        guard result >= 0 else {
            // A failed open has freed the context, and left the I/O context to its owner.
            close()
            throw LibraryCode(rawValue: result)
        }
        unsafe self.context = unsafe opened
        if container == .mp4 { leaveSamplesAsTheyAre() }
    }

    /// Makes an I/O context that reads from `source`, whose owner keeps it for longer.
    private static func makeIO(_ source: ByteSource) throws(LibraryCode) -> UnsafeMutablePointer<AVIOContext> {
        guard let buffer = unsafe av_malloc(Int(ioBufferByteCount)) else { throw .noMemory }
        // `source` outlives the I/O context: it is released after `close()`.
        let opaque = unsafe Unmanaged.passUnretained(source).toOpaque()
        let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
            opaque, buffer, count in
            guard let opaque = unsafe opaque, let buffer = unsafe buffer, count > 0 else {
                return LibraryCode.invalidArgument.rawValue
            }
            let reader = unsafe Unmanaged<ByteSource>.fromOpaque(opaque).takeUnretainedValue()
            let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
            return switch unsafe reader.read(into: target) {
            case .bytes(let count): Int32(count)
            case .end: LibraryCode.endOfFile.rawValue
            case .cancelled: LibraryCode.exit.rawValue
            }
        }
        let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = { opaque, offset, whence in
            guard let opaque = unsafe opaque else { return Int64(LibraryCode.invalidArgument.rawValue) }
            let reader = unsafe Unmanaged<ByteSource>.fromOpaque(opaque).takeUnretainedValue()
            return reader.seek(to: offset, whence: whence) ?? Int64(LibraryCode.invalidArgument.rawValue)
        }
        guard
            let io = unsafe avio_alloc_context(
                buffer.assumingMemoryBound(to: UInt8.self), ioBufferByteCount, 0, opaque, read, nil,
                source.isSeekable ? seek : nil)
        else {
            unsafe av_free(buffer)
            throw .noMemory
        }
        return unsafe io
    }

    deinit {
        close()
    }

    private func close() {
        if unsafe context != nil { unsafe avformat_close_input(&context) }
        if let io = unsafe io {
            // The library may have replaced the buffer since.
            unsafe av_freep(&io.pointee.buffer)
            unsafe avio_context_free(&self.io)
        }
    }

    /// MP4 samples are whole and timed, so that no parser has to look into them; but MP3's may hold several frames.
    private func leaveSamplesAsTheyAre() {
        guard let context = unsafe context else { return }
        for index in 0..<streamCount {
            guard let codec = unsafe pointer(index)?.pointee.codecpar.pointee.codec_id else { continue }
            if codec == AV_CODEC_ID_MP3 || codec == AV_CODEC_ID_MP2 { return }
        }
        unsafe context.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN
    }

    /// Reads the next packet, or throws `.endOfFile`, `.exit` or what is wrong.
    func read(_ packet: borrowing Packet) throws(LibraryCode) {
        let result = unsafe av_read_frame(context, packet.pointer)
        guard result >= 0 else { throw LibraryCode(rawValue: result) }
    }

    /// Number of streams known by now; MPEG-TS declares them while it is read.
    var streamCount: Int { unsafe context.map { unsafe Int($0.pointee.nb_streams) } ?? 0 }

    /// What a stream holds.
    func stream(_ index: Int) -> Stream? {
        guard let stream = unsafe pointer(index) else { return nil }
        let parameters = unsafe stream.pointee.codecpar.pointee
        let isPicture = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
        let kind: TrackKind? =
            switch unsafe parameters.codec_type {
            case AVMEDIA_TYPE_VIDEO where !isPicture: .video
            case AVMEDIA_TYPE_AUDIO: .audio
            default: nil
            }
        let timeBase = unsafe stream.pointee.time_base
        let (width, height) = unsafe (parameters.width, parameters.height)
        return Stream(
            kind: kind, timeBase: (max(1, Int64(timeBase.num)), max(1, Int64(timeBase.den))),
            size: width > 0 && height > 0 ? PictureSize(width: Int(width), height: Int(height)) : nil)
    }

    /// The codec of a stream, where its samples may be encrypted in a transport stream or in packed audio.
    func sampleCodec(_ index: Int) -> SampleAES.Codec? {
        switch unsafe pointer(index)?.pointee.codecpar.pointee.codec_id {
        case AV_CODEC_ID_H264: .h264
        case AV_CODEC_ID_AAC: .aac
        case AV_CODEC_ID_AC3: .ac3
        case AV_CODEC_ID_EAC3: .eac3
        default: nil
        }
    }

    /// Leaves a stream's packets out from now on.
    func discard(_ index: Int) {
        guard let stream = unsafe pointer(index) else { return }
        unsafe stream.pointee.discard = AVDISCARD_ALL
    }

    /// The raw stream, for the decoder. Valid as long as the demuxer.
    func pointer(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard let context = unsafe context, index >= 0, index < streamCount else { return nil }
        return unsafe context.pointee.streams[index]
    }
}
