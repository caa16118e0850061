/// The head of a box that lists something (ISO/IEC 14496-12, 8.6 to 8.8): what it says of its entries must fit into it.
///
/// libavformat makes room for as many entries as the head says before it reads one, so that a box of 40 bytes could take
/// gigabytes.
struct SampleTable {
    /// The samples that a table may list which spends no byte on each.
    static let sampleLimit: UInt64 = 1 << 20
    /// The bytes of a head that tell.
    static let headByteCount = 20

    /// Whether a box of the type lists entries.
    static func isTable(_ type: BoxType) -> Bool { entryByteCounts[type] != nil }

    /// Whether the entries fit.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the payload, ``headByteCount`` or all.
    ///   - byteCount: The payload's size.
    static func isPlausible(_ type: BoxType, head: [UInt8], byteCount: UInt64) -> Bool {
        guard let entryByteCount = entryByteCounts[type] else { return true }
        func word(_ offset: Int) -> UInt64? {
            guard head.count >= offset + 4 else { return nil }
            return head[offset..<offset + 4].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let flags = word(0) else { return false }
        let place: Int
        switch type {
        // Before the count stand the size that all samples share, or zero, and what the samples are grouped by.
        case BoxType("stsz"), BoxType("stz2"): place = 8
        case BoxType("sbgp"): place = flags >> 24 == 1 ? 12 : 8
        case BoxType("tfra"): place = 12
        // The size that all of them share, or zero; what they are of may stand in front.
        case BoxType("saiz"): place = flags & 1 == 1 ? 13 : 5
        case BoxType("saio"): place = flags & 1 == 1 ? 12 : 4
        default: place = 4
        }
        guard let count = word(place) else { return false }
        let bits: UInt64
        switch type {
        case BoxType("stsz"): bits = word(4) == 0 ? 32 : 0
        case BoxType("stz2"): bits = UInt64(head[7])
        case BoxType("trun"): bits = UInt64((flags & 0xF00).nonzeroBitCount) * 32
        case BoxType("saiz"): bits = head[place - 1] == 0 ? 8 : 0
        case BoxType("saio"): bits = flags >> 24 == 0 ? 32 : 64
        // A sample may have no vector of its own.
        case BoxType("senc"): bits = flags & 2 == 2 ? 16 : 0
        case BoxType("elst"): bits = flags >> 24 == 1 ? 160 : 96
        // The least: three numbers of it have lengths of their own.
        case BoxType("tfra"): bits = flags >> 24 == 1 ? 152 : 88
        default: bits = UInt64(entryByteCount) * 8
        }
        let room = byteCount - UInt64(place + 4)
        return bits == 0 ? count <= sampleLimit : count <= room * 8 / bits
    }

    /// The bytes of an entry; 0 where the head says how many.
    private static let entryByteCounts: [BoxType: Int] = [
        BoxType("stts"): 8, BoxType("ctts"): 8, BoxType("stsc"): 12, BoxType("stco"): 4, BoxType("co64"): 8,
        BoxType("stss"): 4, BoxType("stps"): 4, BoxType("sbgp"): 8, BoxType("stsz"): 0, BoxType("stz2"): 0,
        BoxType("trun"): 0, BoxType("elst"): 0, BoxType("tfra"): 0, BoxType("saiz"): 0, BoxType("saio"): 0,
        BoxType("senc"): 0,
    ]
}
