import CoreModel
import Cryptography

/// What a `moov` box says of the encryption of its tracks, and the box as it would be without.
struct ProtectedMovie {
    /// Why protected media can't be read.
    enum Fault: Error, Equatable {
        /// A box contradicts itself.
        case malformed(BoxType)
        case missingKey(Bytes16)
        /// What is not supported: a scheme, or a box.
        case unsupported(BoxType)

        init(_ malformed: BoxReader.Malformed) { self = .malformed(malformed.type) }
    }

    /// A track of which samples may be encrypted.
    struct Track {
        /// For each sample entry, from the first; nil for one in the clear.
        var entries: [SampleProtection?] = []
        /// For each entry of the track's `seig` groups; nil for one in the clear.
        var groups: [SampleProtection?] = []
        /// From `trex`.
        var defaultEntry: UInt64 = 1
        var defaultSampleByteCount: UInt64 = 0

        /// The scheme of its protected entries.
        var scheme: SampleCipher.Scheme? { entries.lazy.compactMap { $0?.scheme }.first }
    }

    /// A track's parts by its number; none that is in the clear.
    private(set) var tracks: [UInt64: Track] = [:]
    /// Where four characters are to be replaced, and by which.
    private var edits: [(index: Int, type: BoxType)] = []

    private static let trackLimit = 64
    private static let entryLimit = 64
    /// Entries of `seig` groups: keys of a fragment or a track.
    static let groupLimit = 1024

    /// Reads a `moov`.
    init(_ bytes: [UInt8], headerByteCount: Int) throws(Fault) {
        var moov = BoxReader(type: BoxType("moov"), payload: bytes[headerByteCount...])
        do throws(BoxReader.Malformed) {
            var all: [UInt64: Track] = [:]
            while var child = try moov.child() {
                if child.type == BoxType("trak") {
                    guard all.count < Self.trackLimit else { throw child.malformed }
                    let (id, track) = try track(child)
                    all[id] = track
                } else if child.type == BoxType("mvex") {
                    while var box = try child.child() {
                        guard box.type == BoxType("trex") else { continue }
                        try box.skip(4)
                        let id = try box.number(4)
                        all[id]?.defaultEntry = try box.number(4)
                        try box.skip(4)
                        all[id]?.defaultSampleByteCount = try box.number(4)
                    }
                }
            }
            tracks = all.filter { $0.value.scheme != nil }
        } catch { throw unsupported ?? Fault(error) }
        if tracks.isEmpty, let unsupported { throw unsupported }
    }

    private var unsupported: Fault?

    /// The box as a reader of clear media takes it: of the same size.
    func cleared(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for edit in edits { edit.type.replace(in: &bytes, at: edit.index) }
        return bytes
    }

    private mutating func track(_ trak: BoxReader) throws(BoxReader.Malformed) -> (UInt64, Track) {
        var (trak, id, track) = (trak, UInt64(0), Track())
        while var child = try trak.child() {
            if child.type == BoxType("tkhd") {
                try child.skip(try child.versionAndFlags().version == 1 ? 16 : 8)
                id = try child.number(4)
            } else if child.type == BoxType("mdia") {
                while var minf = try child.child() {
                    guard minf.type == BoxType("minf") else { continue }
                    while var stbl = try minf.child() {
                        guard stbl.type == BoxType("stbl") else { continue }
                        try read(&stbl, into: &track)
                    }
                }
            }
        }
        return (id, track)
    }

    private mutating func read(_ stbl: inout BoxReader, into track: inout Track) throws(BoxReader.Malformed) {
        var groups: [BoxReader] = []
        while var child = try stbl.child() {
            if child.type == BoxType("stsd") {
                try child.skip(8)
                while let entry = try child.child() {
                    guard track.entries.count < Self.entryLimit else { throw child.malformed }
                    track.entries.append(try protection(entry))
                }
            } else if child.type == BoxType("sgpd") {
                groups.append(child)
            }
        }
        guard let scheme = track.scheme else { return }
        for group in groups {
            guard let entries = try Self.groups(group, scheme: scheme) else { continue }
            track.groups = entries
            if let index = group.typeIndex { edits.append((index, BoxType("free"))) }
        }
    }

    /// The entries of a `sgpd` box; nil when it groups by something else (ISO/IEC 14496-12, 8.9.3).
    static func groups(
        _ box: BoxReader, scheme: SampleCipher.Scheme
    ) throws(BoxReader.Malformed) -> [SampleProtection?]? {
        var box = box
        let version = try box.versionAndFlags().version
        guard BoxType(UInt32(try box.number(4))) == BoxType("seig") else { return nil }
        let shared = version == 1 ? Int(try box.number(4)) : 0
        if version >= 2 { try box.skip(4) }
        let count = try box.number(4)
        guard count <= UInt64(groupLimit) else { throw box.malformed }
        var entries: [SampleProtection?] = []
        for _ in 0..<count {
            let size = version == 1 && shared == 0 ? Int(try box.number(4)) : version == 1 ? shared : box.remaining
            var entry = BoxReader(type: box.type, payload: try box.bytes(size))
            entries.append(try SampleProtection(&entry, scheme: scheme, hasPattern: true))
            // Without a length an entry ends where it has been read.
            if version != 1, entry.remaining > 0, count > 1 { throw box.malformed }
        }
        return entries
    }

    /// How the samples of a sample entry are encrypted.
    private mutating func protection(_ entry: BoxReader) throws(BoxReader.Malformed) -> SampleProtection? {
        let (encv, enca) = (BoxType("encv"), BoxType("enca"))
        guard entry.type == encv || entry.type == enca else { return nil }
        // Behind the fixed fields, which QuickTime's versions of audio extend.
        for fixedByteCount in entry.type == encv ? [78] : [28, 44, 64] {
            var box = entry
            guard box.remaining > fixedByteCount else { break }
            try box.skip(fixedByteCount)
            // Fields taken for boxes are no boxes as a rule, and hold no `sinf`.
            while let child = try? box.child() {
                guard child.type == BoxType("sinf") else { continue }
                return try protection(child, of: entry)
            }
        }
        throw entry.malformed
    }

    private mutating func protection(
        _ sinf: BoxReader, of entry: BoxReader
    ) throws(BoxReader.Malformed) -> SampleProtection? {
        var (box, format, name, tenc) = (sinf, BoxType?.none, BoxType?.none, BoxReader?.none)
        while var child = try box.child() {
            if child.type == BoxType("frma") {
                format = BoxType(UInt32(try child.number(4)))
            } else if child.type == BoxType("schm") {
                try child.skip(4)
                name = BoxType(UInt32(try child.number(4)))
            } else if child.type == BoxType("schi") {
                while let inner = try child.child() {
                    if inner.type == BoxType("tenc") { tenc = tenc ?? inner }
                }
            }
        }
        guard let format, let name, let entryIndex = entry.typeIndex, let sinfIndex = sinf.typeIndex else {
            throw sinf.malformed
        }
        guard let scheme = SampleCipher.Scheme(rawValue: name.description), var tenc else {
            unsupported = .unsupported(name)
            throw sinf.malformed
        }
        edits.append((entryIndex, format))
        edits.append((sinfIndex, BoxType("free")))
        let version = try tenc.versionAndFlags().version
        return try SampleProtection(&tenc, scheme: scheme, hasPattern: version > 0)
    }
}

extension BoxType {
    /// Writes the four characters.
    func replace(in bytes: inout [UInt8], at index: Int) {
        for place in 0..<4 { bytes[index + place] = UInt8(truncatingIfNeeded: rawValue >> (24 - 8 * place)) }
    }
}
