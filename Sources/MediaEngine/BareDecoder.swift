internal import CoreModel

/// Decodes bytes that are all there on the calling thread: libavformat and libavcodec in one loop, nothing else. What an
/// engine's time to the first frame is measured against.
public enum BareDecoder {
    /// Why there is no picture.
    public enum Failure: Error, Hashable, Sendable {
        case unknownContainer
        case noPicture
    }

    /// The first picture in presentation order of an initialisation section with its first segment, or of a segment
    /// that needs none. Blocks while it decodes.
    public static func firstPicture(of bytes: [UInt8]) throws(Failure) -> VideoFrame {
        guard let container = Container(sniffing: bytes.prefix(Container.sniffedByteCount)) else {
            throw .unknownContainer
        }
        do {
            let demuxer = try Demuxer(container: container, source: MemorySource(bytes) { false })
            return try firstPicture(demuxer)
        } catch {
            throw .noPicture
        }
    }

    private static func firstPicture(_ demuxer: Demuxer) throws -> VideoFrame {
        var decoder: Decoder?
        while true {
            let packet = try Packet()
            do throws(LibraryCode) {
                try demuxer.read(packet)
            } catch {
                guard error == .endOfFile else { throw error }
                decoder?.drain()
                if let decoder, let picture = picture(decoder) { return picture }
                throw error
            }
            guard demuxer.stream(packet.streamIndex)?.kind == .video,
                let stream = unsafe demuxer.pointer(packet.streamIndex)
            else { continue }
            let opened = unsafe try decoder ?? Decoder(stream: stream, firstPacket: packet, threadCount: 1, track: 0)
            decoder = opened
            _ = opened.send(packet)
            if let picture = picture(opened) { return picture }
        }
    }

    private static func picture(_ decoder: Decoder) -> VideoFrame? {
        guard case .frame = decoder.receive() else { return nil }
        return unsafe VideoFrame(moving: decoder.frame, time: .zero, duration: .zero)
    }
}
