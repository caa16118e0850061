/// The containers that the engine reads, told from their first bytes: names and extensions lie.
enum Container: Hashable, Sendable {
    case mp4, mpegTS, adts, mp3, ac3, eac3

    /// Bytes that ``init(sniffing:)`` wants to see.
    static let sniffedByteCount = 12

    /// Tells the container from its first bytes, an ID3 tag already taken off.
    init?(sniffing bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes.prefix(Self.sniffedByteCount))
        guard bytes.count >= 8 else { return nil }
        if BoxType(bytes[4..<8]).mayStartAFile {
            self = .mp4
        } else if bytes[0] == 0x47 {
            self = .mpegTS
        } else if bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 {
            self = .adts
        } else if bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 {
            self = .mp3
        } else if bytes[0] == 0x0B, bytes[1] == 0x77 {
            // bsid, five bits: above 10 the syntax is that of E-AC-3.
            self = bytes[5] >> 3 > 10 ? .eac3 : .ac3
        } else {
            return nil
        }
    }

    /// Audio frames one after the other, timed by an ID3 tag at each segment's start.
    var isPackedAudio: Bool {
        switch self {
        case .mp4, .mpegTS: false
        case .adts, .mp3, .ac3, .eac3: true
        }
    }

    /// FFmpeg's name of the demuxer.
    var demuxerName: String {
        switch self {
        case .mp4: "mov"
        case .mpegTS: "mpegts"
        case .adts: "aac"
        case .mp3: "mp3"
        case .ac3: "ac3"
        case .eac3: "eac3"
        }
    }
}

/// The four-character type of an MP4 box.
struct BoxType: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt32

    init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(_ bytes: some Sequence<UInt8>) {
        rawValue = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4, "a box type has four characters")
        unsafe self.init(UnsafeBufferPointer(start: text.utf8Start, count: 4))
    }

    /// Whether a file or a segment may begin with it.
    var mayStartAFile: Bool { Self.first.contains(self) }

    private static let first: Set<BoxType> = [
        BoxType("ftyp"), BoxType("styp"), BoxType("moov"), BoxType("moof"), BoxType("sidx"), BoxType("emsg"),
        BoxType("prft"), BoxType("mdat"), BoxType("free"), BoxType("skip"), BoxType("wide"), BoxType("pdin"),
        BoxType("uuid"), BoxType("ssix"), BoxType("meta"),
    ]

    /// Whether a real box of the type may hold more than ``metadataByteLimit``; what others claim beyond that is text, or
    /// bytes out of step.
    var mayBeLong: Bool { Self.long.contains(self) }

    /// Bytes of a box that describes media.
    static let metadataByteLimit: UInt64 = 64 << 20

    private static let long: Set<BoxType> = [BoxType("mdat"), BoxType("free"), BoxType("skip"), BoxType("uuid")]

    /// Whether each character is printable ASCII, or the © that QuickTime uses.
    var isPlausible: Bool {
        (0..<4).allSatisfy { index in
            let byte = UInt8(truncatingIfNeeded: rawValue >> (8 * index))
            return (0x20...0x7E).contains(byte) || byte == 0xA9
        }
    }

    var description: String {
        String(decoding: (0..<4).reversed().map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) }, as: UTF8.self)
    }
}
