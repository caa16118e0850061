internal import CoreModel
internal import Cryptography

/// The module's parsers of bytes from outside, for the fuzzer.
package enum MediaParsers {
    /// Feeds the pieces to the walker of appended MP4 data, up to the first that it refuses. A refused piece must leave
    /// the walker as it was: the rest of the pieces then goes on from there.
    package static func walkMP4(_ pieces: [[UInt8]]) {
        var walker = MP4Walker(coding: .mp4, fileByteLimit: 1 << 20)
        var handedOn = 0
        for piece in pieces {
            let before = walker.appended
            do throws(DataError) {
                for unit in try walker.append(piece[...]) {
                    switch unit {
                    case .initialization(let bytes), .file(let bytes): handedOn += bytes.count
                    case .bytes(let bytes, _): handedOn += bytes.count
                    }
                }
            } catch {
                precondition(walker.appended == before, "a refused piece changed the walker")
            }
        }
        precondition(handedOn <= pieces.reduce(0) { $0 + $1.count }, "the walker made bytes up")
        walker.reset()
    }

    /// Follows the boxes of a segment that comes in pieces.
    package static func trackBoxes(_ pieces: [[UInt8]]) {
        var tracker = BoxTracker()
        for piece in pieces where !tracker.take(piece[...]) { return }
    }

    /// Reads an MP4 that may be encrypted, in pieces, with a key for all of it. Every byte keeps its place.
    package static func decryptFragments(_ pieces: [[UInt8]]) {
        var decryptor = FragmentDecryptor()
        decryptor.keys = SampleKeys(other: ContentKey([UInt8](repeating: 7, count: 16)))
        var (taken, given) = (0, 0)
        for piece in pieces {
            taken += piece.count
            guard let bytes = try? decryptor.append(piece[...]) else { return }
            given += bytes.count
        }
        precondition(given <= taken, "the decryptor made bytes up")
    }

    /// Reads an access unit of a transport stream, or frames of packed audio, as if they were encrypted.
    package static func decryptSamples(_ bytes: [UInt8], codec: Int) {
        var cipher = SampleAES()
        let keys = SampleKeys(
            other: ContentKey([UInt8](repeating: 7, count: 16)), vector: [UInt8](repeating: 9, count: 16))
        let codecs: [SampleAES.Codec] = [.h264, .aac, .ac3, .eac3]
        let clear = cipher.decrypt(bytes, codecs[codec % codecs.count], keys)
        precondition(clear.count <= bytes.count, "decryption made bytes up")
    }

    /// Takes an ID3 tag off packed audio that comes in pieces.
    package static func readPackedAudioTag(_ pieces: [[UInt8]]) {
        var tag = PackedAudioTag()
        for piece in pieces {
            if case .done = tag.append(piece[...]) { return }
        }
        _ = tag.finish()
    }

    /// Looks for an H.264 stream's reordering depth, and tells a container from its first bytes.
    package static func sniff(_ bytes: [UInt8]) {
        _ = H264Reordering(bytes)
        _ = Container(sniffing: bytes[...])
    }

    /// Takes a container apart and decodes what is in it, as a track does, and hashes the pictures. What libavformat and
    /// libavcodec parse is theirs; how they are driven is not.
    package static func decode(_ bytes: [UInt8]) {
        var boxes = BoxTracker()
        guard let container = Container(sniffing: bytes.prefix(Container.sniffedByteCount)),
            container != .mp4 || boxes.take(bytes[...]),
            let demuxer = try? Demuxer(container: container, source: MemorySource(bytes) { false })
        else { return }
        var decoders: [Int: Decoder] = [:]
        // Damage costs packets; the bound is there for input that makes more packets than it has bytes.
        for _ in 0...bytes.count {
            guard let packet = try? Packet() else { return }
            do throws(LibraryCode) {
                try demuxer.read(packet)
            } catch {
                guard error == .again else { break }
                continue
            }
            let index = packet.streamIndex
            guard demuxer.stream(index)?.kind != nil, let stream = unsafe demuxer.pointer(index) else { continue }
            let known = decoders[index]
            guard
                let decoder = unsafe known
                    ?? (try? Decoder(stream: stream, firstPacket: packet, threadCount: 1, track: 0))
            else {
                demuxer.discard(index)
                continue
            }
            decoders[index] = decoder
            while case .full = decoder.send(packet), take(decoder) {}
        }
        for (_, decoder) in decoders {
            decoder.drain()
            while take(decoder) {}
        }
    }

    /// Takes one result of a decoder; false when there is none.
    private static func take(_ decoder: Decoder) -> Bool {
        switch decoder.receive() {
        case .needsInput, .ended: return false
        case .damaged: return true
        case .frame:
            guard let picture = unsafe VideoFrame(moving: decoder.frame, time: .zero, duration: .zero) else {
                return true
            }
            _ = FrameHasher()?.digest(of: picture)
            return true
        }
    }
}
