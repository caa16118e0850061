internal import CFFmpeg
internal import CFFmpegShims
import CoreModel

/// One encoded access unit.
@safe
struct Packet: ~Copyable {
    private(set) var pointer: UnsafeMutablePointer<AVPacket>

    init() throws(LibraryCode) {
        guard let pointer = unsafe av_packet_alloc() else { throw .noMemory }
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = unsafe pointer
        unsafe av_packet_free(&pointer)
    }

    var streamIndex: Int { unsafe Int(pointer.pointee.stream_index) }
    var byteCount: Int { unsafe Int(pointer.pointee.size) }
    /// Position of its first byte in the source; negative where unknown.
    var position: Int64 { unsafe pointer.pointee.pos }
    var isKey: Bool { unsafe CFFmpegShims_packetIsKey(pointer) != 0 }

    /// Decoding time, or presentation time where only that is known, in the stream's time base.
    var decodingTimestamp: Int64? {
        let (pts, dts) = unsafe (pointer.pointee.pts, pointer.pointee.dts)
        return dts != noTimestamp ? dts : pts != noTimestamp ? pts : nil
    }

    /// Presentation time, or decoding time where only that is known, in the stream's time base.
    var timestamp: Int64? {
        let (pts, dts) = unsafe (pointer.pointee.pts, pointer.pointee.dts)
        return pts != noTimestamp ? pts : dts != noTimestamp ? dts : nil
    }

    /// Duration in the stream's time base; 0 where unknown.
    var duration: Int64 { unsafe max(0, pointer.pointee.duration) }

    /// Replaces its bytes by others, no more of them than there are.
    func replaceBytes(_ change: ([UInt8]) -> [UInt8]) throws(LibraryCode) {
        guard let data = unsafe pointer.pointee.data, byteCount > 0 else { return }
        let bytes = change(unsafe Array(UnsafeBufferPointer(start: data, count: byteCount)))
        guard !bytes.isEmpty, bytes.count <= byteCount else { return }
        guard unsafe av_packet_make_writable(pointer) >= 0, let target = unsafe pointer.pointee.data else {
            throw .noMemory
        }
        unsafe target.update(from: bytes, count: bytes.count)
        unsafe av_shrink_packet(pointer, Int32(bytes.count))
    }

    /// Moves both timestamps by `ticks`, where that does not overflow.
    func shift(by ticks: Int64) {
        guard ticks != 0 else { return }
        let (pts, dts) = unsafe (pointer.pointee.pts, pointer.pointee.dts)
        if pts != noTimestamp { unsafe pointer.pointee.pts = pts.addingReportingOverflow(ticks).partialValue }
        if dts != noTimestamp { unsafe pointer.pointee.dts = dts.addingReportingOverflow(ticks).partialValue }
    }
}

/// A ``Packet`` that can wait in a queue.
final class QueuedPacket {
    let packet: Packet
    /// How long it lasts, as far as it is known by now.
    var duration: MediaTime
    /// The decoder has taken it.
    var isSent = false

    init(_ packet: consuming Packet, duration: MediaTime) {
        self.packet = packet
        self.duration = duration
    }
}
