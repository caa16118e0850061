import CoreModel
import Cryptography

/// The encrypted samples of a `moof` box, and the box as it would be without them.
struct ProtectedFragment {
    typealias Fault = ProtectedMovie.Fault

    /// One encrypted sample.
    struct Sample {
        /// Where its first byte lies, counted from the `moof`'s first.
        var offset: Int
        var byteCount: Int
        var protection: SampleProtection
        var vector: [UInt8]
        /// The protected bytes, by their distance from the first.
        var ranges: [Range<Int>]
    }

    /// In the order of their bytes.
    private(set) var samples: [Sample] = []
    private(set) var cleared: [UInt8]

    /// Samples in a fragment: a minute of sound has 3,000.
    private static let sampleLimit = 1 << 16
    /// The format of `senc` under the name that it had before it was one (PIFF 1.1).
    private static let piff: [UInt8] = [
        0xA2, 0x39, 0x4F, 0x52, 0x5A, 0x9B, 0x4F, 0x14, 0xA2, 0x44, 0x6C, 0x42, 0x7C, 0x64, 0x8D, 0xF4,
    ]

    /// What a `traf` box says.
    private struct Run {
        var offset: Int?
        var sizes: [Int]
    }

    private struct TrackFragment {
        var id: UInt64 = 0
        var entry: UInt64?
        var sampleByteCount: UInt64?
        var runs: [Run] = []
        var sampleCount = 0
        var auxiliary: BoxReader?
        var sizes: BoxReader?
        var offsets: BoxReader?
        /// Samples and their group, in order.
        var memberships: [(count: UInt64, group: UInt64)] = []
        var groups: [BoxReader] = []
        /// Where the types of boxes stand that a reader of clear media must not see.
        var hidden: [Int] = []
    }

    /// Reads a `moof`.
    init(_ bytes: [UInt8], headerByteCount: Int, movie: ProtectedMovie) throws(Fault) {
        cleared = bytes
        var moof = BoxReader(type: BoxType("moof"), payload: bytes[headerByteCount...])
        do throws(BoxReader.Malformed) {
            // Where the first track's data begins by default, and then where the last one's ended.
            var end = 0
            while let child = try moof.child() {
                guard child.type == BoxType("traf") else { continue }
                let fragment = try Self.read(child, movie: movie)
                for index in fragment.hidden { BoxType("free").replace(in: &cleared, at: index) }
                try add(fragment, bytes, movie, end: &end)
            }
        } catch { throw unsupported ?? Fault(error) }
        samples.sort { $0.offset < $1.offset }
        for (one, next) in zip(samples, samples.dropFirst()) where one.offset + one.byteCount > next.offset {
            throw .malformed(BoxType("trun"))
        }
        if let first = samples.first, first.offset < bytes.count { throw .malformed(BoxType("trun")) }
    }

    private var unsupported: Fault?

    private static func read(
        _ traf: BoxReader, movie: ProtectedMovie
    ) throws(BoxReader.Malformed) -> TrackFragment {
        var (traf, fragment) = (traf, TrackFragment())
        while var child = try traf.child() {
            switch child.type {
            case BoxType("tfhd"):
                let flags = try child.versionAndFlags().flags
                fragment.id = try child.number(4)
                // Written offsets count from the file's start, and name the `moof`.
                if flags & 0x1 != 0 { try child.skip(8) }
                if flags & 0x2 != 0 { fragment.entry = try child.number(4) }
                if flags & 0x8 != 0 { try child.skip(4) }
                if flags & 0x10 != 0 { fragment.sampleByteCount = try child.number(4) }
            case BoxType("trun"):
                let standard = fragment.sampleByteCount ?? movie.tracks[fragment.id]?.defaultSampleByteCount ?? 0
                let run = try run(&child, sampleByteCount: standard, limit: sampleLimit - fragment.sampleCount)
                fragment.sampleCount += run.sizes.count
                fragment.runs.append(run)
            case BoxType("senc"):
                fragment.auxiliary = child
                fragment.hidden += [child.typeIndex].compactMap { $0 }
            case BoxType("uuid"):
                guard child.remaining > piff.count, try child.bytes(piff.count).elementsEqual(piff) else { continue }
                fragment.auxiliary = fragment.auxiliary ?? child
                fragment.hidden += [child.typeIndex].compactMap { $0 }
            case BoxType("saiz"), BoxType("saio"):
                if child.type == BoxType("saiz") { fragment.sizes = child } else { fragment.offsets = child }
                fragment.hidden += [child.typeIndex].compactMap { $0 }
            case BoxType("sgpd"):
                fragment.groups.append(child)
            case BoxType("sbgp"):
                let index = child.typeIndex
                let version = try child.versionAndFlags().version
                guard BoxType(UInt32(try child.number(4))) == BoxType("seig") else { continue }
                if version == 1 { try child.skip(4) }
                let count = try child.number(4)
                guard count <= UInt64(child.remaining / 8) else { throw child.malformed }
                for _ in 0..<count { fragment.memberships.append((try child.number(4), try child.number(4))) }
                fragment.hidden += [index].compactMap { $0 }
            default: continue
            }
        }
        return fragment
    }

    private static func run(
        _ box: inout BoxReader, sampleByteCount: UInt64, limit: Int
    ) throws(BoxReader.Malformed) -> Run {
        let flags = try box.versionAndFlags().flags
        let count = try box.number(4)
        guard count <= UInt64(limit) else { throw box.malformed }
        var run = Run(offset: nil, sizes: [])
        if flags & 0x1 != 0 { run.offset = Int(Int32(truncatingIfNeeded: try box.number(4))) }
        if flags & 0x4 != 0 { try box.skip(4) }
        let fieldByteCount = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4
        guard box.remaining >= Int(count) * fieldByteCount else { throw box.malformed }
        run.sizes.reserveCapacity(Int(count))
        for _ in 0..<count {
            if flags & 0x100 != 0 { try box.skip(4) }
            run.sizes.append(Int(flags & 0x200 != 0 ? try box.number(4) : sampleByteCount))
            try box.skip((flags & 0x400 != 0 ? 4 : 0) + (flags & 0x800 != 0 ? 4 : 0))
        }
        return run
    }

    private mutating func add(
        _ fragment: TrackFragment, _ bytes: [UInt8], _ movie: ProtectedMovie, end: inout Int
    ) throws(BoxReader.Malformed) {
        let malformed = BoxReader.Malformed(type: BoxType("traf"))
        var offset = end
        defer { end = offset }
        guard let track = movie.tracks[fragment.id], let scheme = track.scheme else {
            for run in fragment.runs { offset = (run.offset ?? offset) + run.sizes.reduce(0, +) }
            return
        }
        var local: [SampleProtection?] = []
        for box in fragment.groups {
            guard let entries = try ProtectedMovie.groups(box, scheme: scheme) else { continue }
            local = entries
            if let index = box.typeIndex { BoxType("free").replace(in: &cleared, at: index) }
        }
        let entry = fragment.entry ?? track.defaultEntry
        guard entry >= 1, entry <= UInt64(track.entries.count) else { throw malformed }
        let standard = track.entries[Int(entry) - 1]
        var vectors = try Auxiliary(fragment.auxiliary, sampleCount: fragment.sampleCount)
        if vectors == nil, let sizes = fragment.sizes, let offsets = fragment.offsets {
            vectors = try Auxiliary(sizes: sizes, offsets: offsets, in: bytes)
            if vectors == nil {
                unsupported = .unsupported(BoxType("saio"))
                throw malformed
            }
        }
        var memberships = fragment.memberships[...]
        for run in fragment.runs {
            offset = run.offset ?? offset
            for size in run.sizes {
                var protection = standard
                while let first = memberships.first, first.count == 0 { memberships.removeFirst() }
                if let first = memberships.first {
                    memberships[memberships.startIndex].count -= 1
                    // Above 2^16 the fragment's own groups are meant (ISO/IEC 14496-12, 8.9.4).
                    let isLocal = first.group > 0x10000
                    let groups = isLocal ? local : track.groups
                    let place = Int(first.group) - (isLocal ? 0x10000 : 0)
                    guard place <= groups.count else { throw malformed }
                    if place > 0 { protection = groups[place - 1] }
                }
                defer { offset += size }
                let description = try vectors?.next(
                    vectorByteCount: protection?.vectorByteCount ?? 0, sampleByteCount: size)
                // Where each sample should have a vector and nothing tells any, they are in the clear: a beginning that
                // is not encrypted shares the initialization section with what is.
                guard let protection, size > 0, description != nil || protection.vectorByteCount == 0 else {
                    continue
                }
                let vector = description?.vector ?? []
                samples.append(
                    Sample(
                        offset: offset, byteCount: size, protection: protection,
                        vector: vector.isEmpty ? protection.constantVector : vector,
                        ranges: description?.ranges ?? [0..<size]))
            }
        }
    }

    /// The descriptions of encrypted samples, one after the other (ISO/IEC 23001-7, 7.2).
    private struct Auxiliary {
        private var box: BoxReader
        private var hasRanges: Bool
        /// The sizes of the descriptions, where nothing else tells whether there are ranges in them.
        private var sizes: [Int]?
        private var index = 0

        /// Those of a `senc` box.
        init?(_ senc: BoxReader?, sampleCount: Int) throws(BoxReader.Malformed) {
            guard var box = senc else { return nil }
            let flags = try box.versionAndFlags().flags
            // PIFF: algorithm, size of the vectors and key, which `tenc` says as well.
            if flags & 1 == 1 { try box.skip(20) }
            guard try box.number(4) >= UInt64(sampleCount) else { throw box.malformed }
            hasRanges = flags & 2 == 2
            self.box = box
        }

        /// Those that `saiz` and `saio` lead to; nil when they don't lie within `bytes`.
        init?(sizes: BoxReader, offsets: BoxReader, in bytes: [UInt8]) throws(BoxReader.Malformed) {
            var (sizes, offsets) = (sizes, offsets)
            if try sizes.versionAndFlags().flags & 1 == 1 { try sizes.skip(8) }
            let shared = Int(try sizes.number(1))
            let count = Int(try sizes.number(4))
            guard count <= sampleLimit else { throw sizes.malformed }
            var list: [Int] = []
            for _ in 0..<count { list.append(shared > 0 ? shared : Int(try sizes.number(1))) }
            let (version, flags) = try offsets.versionAndFlags()
            if flags & 1 == 1 { try offsets.skip(8) }
            guard try offsets.number(4) == 1 else { return nil }
            let place = try offsets.number(version == 0 ? 4 : 8)
            guard place <= UInt64(bytes.count), list.reduce(0, +) <= bytes.count - Int(place) else { return nil }
            box = BoxReader(type: offsets.type, payload: bytes[Int(place)...])
            hasRanges = false
            self.sizes = list
        }

        /// The next sample's vector and protected ranges.
        mutating func next(
            vectorByteCount: Int, sampleByteCount: Int
        ) throws(BoxReader.Malformed) -> (vector: [UInt8], ranges: [Range<Int>])? {
            var hasRanges = hasRanges
            if let sizes {
                guard index < sizes.count else { return nil }
                hasRanges = sizes[index] > vectorByteCount
                index += 1
            }
            let vector = Array(try box.bytes(vectorByteCount))
            guard hasRanges else { return (vector, [0..<sampleByteCount]) }
            var ranges: [Range<Int>] = []
            var offset = 0
            for _ in 0..<(try box.number(2)) {
                offset += Int(try box.number(2))
                let count = Int(try box.number(4))
                guard offset + count <= sampleByteCount else { throw box.malformed }
                if count > 0 { ranges.append(offset..<offset + count) }
                offset += count
            }
            return (vector, ranges)
        }
    }
}
