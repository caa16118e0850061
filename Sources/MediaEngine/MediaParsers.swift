/// The module's own parsers of bytes from outside, for the fuzzer. What libavformat and libavcodec parse is theirs.
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
}
