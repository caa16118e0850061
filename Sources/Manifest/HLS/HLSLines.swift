/// The lines of a playlist that mean something: RFC 8216bis, section 4.1.
struct HLSLines {
    /// A line that isn't blank, a comment or an unknown tag.
    enum Line {
        /// A known tag and the text after its colon.
        case tag(HLSTag, value: ArraySlice<UInt8>)
        /// A line that is a URI.
        case uri(ArraySlice<UInt8>)
    }

    private let bytes: [UInt8]
    private var index: Int
    /// The number of the line that ``next()`` gave last, from 1.
    private(set) var number = 0

    /// Takes the bytes of a playlist and reads its first line.
    ///
    /// One byte order mark is passed over, which the draft forbids and files have. White space after `#EXTM3U` is too.
    init(_ bytes: [UInt8]) throws(ManifestError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= ManifestLimits.playlistByteCount else {
            throw .tooLarge(what: "bytes in a playlist", limit: ManifestLimits.playlistByteCount)
        }
        self.bytes = bytes
        index = Self.startsWithMark(bytes) ? 3 : 0
        let first = takeLine()
        guard let first, first.starts(withASCII: "#EXTM3U"), first.dropFirst(7).first.map(ASCII.isBlank) ?? true else {
            throw .unrecognized(beginning: Self.excerpt(bytes))
        }
        if let fault = UTF8Check.firstFault(in: bytes) { throw .notUTF8(byteOffset: fault) }
    }

    /// The next line that means something, or `nil` at the end.
    mutating func next() -> Line? {
        while let line = takeLine() {
            let line = line.trimmingBlanks
            guard let first = line.first else { continue }
            guard first == ASCII.hash else { return .uri(line) }
            guard line.starts(withASCII: "#EXT") else { continue }
            let colon = line.firstIndex(of: ASCII.colon) ?? line.endIndex
            guard let tag = HLSTag.byName[line[(line.startIndex + 1)..<colon].trimmingBlanks] else { continue }
            return .tag(tag, value: line[colon...].dropFirst())
        }
        return nil
    }

    private mutating func takeLine() -> ArraySlice<UInt8>? {
        guard index < bytes.endIndex else { return nil }
        let end = bytes[index...].firstIndex(of: ASCII.lineFeed) ?? bytes.endIndex
        defer { index = end + 1 }
        number += 1
        var line = bytes[index..<end]
        if line.last == ASCII.carriageReturn { line.removeLast() }
        return line
    }

    static func startsWithMark(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0xEF, 0xBB, 0xBF]) }

    /// The first bytes as printable text, for an error.
    static func excerpt(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(32).map { (0x20..<0x7F).contains($0) ? $0 : ASCII.point }, as: UTF8.self)
    }
}
