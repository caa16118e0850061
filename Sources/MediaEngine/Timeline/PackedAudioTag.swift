/// Takes the ID3 tag off the front of a packed audio segment, in any split of its bytes, and reads the timestamp that
/// HLS puts there (RFC 8216, 3.4: a PRIV frame with the owner `com.apple.streaming.transportStreamTimestamp`).
struct PackedAudioTag {
    enum Outcome: Equatable {
        case needsBytes
        /// The tag is off, or there was none: the timestamp, and the audio bytes so far.
        case done(timestamp: Int64?, rest: ArraySlice<UInt8>)
    }

    private var bytes: [UInt8] = []

    /// A tag may be this long; a longer one is taken for audio.
    private static let byteLimit = 1 << 20
    private static let headerByteCount = 10

    /// Takes the segment's next bytes.
    mutating func append(_ slice: ArraySlice<UInt8>) -> Outcome {
        bytes += slice
        if !bytes.prefix(3).elementsEqual("ID3".utf8.prefix(bytes.count)) {
            return .done(timestamp: nil, rest: bytes[...])
        }
        guard bytes.count >= Self.headerByteCount else { return .needsBytes }
        let byteCount = Self.headerByteCount + Self.syncSafe(bytes[6..<10])
        guard byteCount <= Self.byteLimit else { return .done(timestamp: nil, rest: bytes[...]) }
        guard bytes.count >= byteCount else { return .needsBytes }
        let version = bytes[3]
        return .done(
            timestamp: Self.timestamp(in: bytes[Self.headerByteCount..<byteCount], version: version),
            rest: bytes[byteCount...])
    }

    /// Ends the segment: bytes of a tag that never got complete are given back.
    mutating func finish() -> ArraySlice<UInt8> {
        defer { bytes = [] }
        return bytes[...]
    }

    private static func timestamp(in frames: ArraySlice<UInt8>, version: UInt8) -> Int64? {
        var rest = frames
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        while rest.count > headerByteCount {
            let start = rest.startIndex
            let sizeBytes = rest[start + 4..<start + 8]
            let byteCount = version >= 4 ? syncSafe(sizeBytes) : sizeBytes.reduce(0) { $0 << 8 | Int($1) }
            guard byteCount > 0, byteCount <= rest.count - headerByteCount else { return nil }
            let body = rest[start + headerByteCount..<start + headerByteCount + byteCount]
            if rest[start..<start + 4].elementsEqual("PRIV".utf8), body.starts(with: owner),
                body.count == owner.count + 8
            {
                return Int64(body.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } & 0x1_FFFF_FFFF)
            }
            rest = rest[(start + headerByteCount + byteCount)...]
        }
        return nil
    }

    private static func syncSafe(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    }
}
