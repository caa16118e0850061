import CoreModel

/// Reads `sidx` boxes.
struct SegmentIndexParser {
    private let bytes: [UInt8]
    private let offset: UInt64?
    private var timescale: UInt32?
    private var references: [SegmentIndex.Reference] = []

    /// Indexes that refer to indexes; real files have one level or two.
    private static let depthLimit = 4

    init(_ bytes: [UInt8], offset: UInt64?) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func parse() throws(ManifestError) -> SegmentIndex {
        var start = 0
        while start < bytes.count {
            let box = try boxHeader(at: start)
            if box.type == Self.sidx {
                try parseIndex(at: start, depth: 1)
                guard let timescale else { break }
                return SegmentIndex(timescale: Int64(timescale), references: references)
            }
            start = box.end
        }
        throw .segmentIndex(byteOffset: 0, problem: "no sidx box")
    }

    private static let sidx: UInt32 = 0x7369_6478

    private func fault(_ at: Int, _ problem: String) -> ManifestError {
        .segmentIndex(byteOffset: at, problem: problem)
    }

    private func boxHeader(at start: Int) throws(ManifestError) -> (type: UInt32, bodyStart: Int, end: Int) {
        do throws(WireError) {
            var reader = WireReader(bytes[start...])
            let size = try reader.integer(UInt32.self)
            let type = try reader.integer(UInt32.self)
            switch size {
            case 0: return (type, start + 8, bytes.count)
            case 1:
                let large = try reader.integer(UInt64.self)
                guard large >= 16, let size = Int(exactly: large), size <= Int.max - start else {
                    throw WireError.invalid(field: "size")
                }
                return (type, start + 16, start + size)
            default:
                guard size >= 8 else { throw WireError.invalid(field: "size") }
                return (type, start + 8, start + Int(size))
            }
        } catch {
            throw fault(start, "the box is cut off or has a wrong size")
        }
    }

    /// The fields of a box.
    private struct Box {
        var timescale: UInt32
        var earliestTime: UInt64
        var firstOffset: UInt64
        var references: [(sizeWord: UInt32, duration: UInt32, accessPointWord: UInt32)]
    }

    private mutating func parseIndex(at start: Int, depth: Int) throws(ManifestError) {
        let header = try boxHeader(at: start)
        guard header.type == Self.sidx else { throw fault(start, "a reference to an index leads to no sidx box") }
        guard header.end <= bytes.count else { throw fault(start, "the sidx box is cut off") }
        guard depth <= Self.depthLimit else {
            throw fault(start, "indexes refer to each other more than \(Self.depthLimit) deep")
        }
        let box: Box
        do throws(WireError) {
            box = try Self.box(bytes[header.bodyStart..<header.end])
        } catch {
            throw fault(start, "the sidx box is cut off")
        }
        guard box.timescale > 0 else { throw fault(start, "the timescale is 0") }
        guard timescale == nil || timescale == box.timescale else {
            throw fault(start, "an index inside has another timescale")
        }
        timescale = box.timescale
        let anchor = (offset ?? 0).addingReportingOverflow(offset == nil ? 0 : UInt64(header.end))
        let (first, overflow) = anchor.partialValue.addingReportingOverflow(box.firstOffset)
        guard !anchor.overflow, !overflow, first <= UInt64(Int64.max) else {
            throw fault(start, "the first offset passes 63 bits")
        }
        var (position, time) = (first, box.earliestTime)
        for reference in box.references {
            // The top bit says that the reference leads to another index.
            let size = UInt64(reference.sizeWord & 0x7FFF_FFFF)
            if reference.sizeWord >> 31 == 1 {
                try follow(to: position, from: start, depth: depth)
            } else {
                guard references.count < ManifestLimits.segmentIndexReferenceCount else {
                    throw .tooLarge(
                        what: "references of a segment index", limit: ManifestLimits.segmentIndexReferenceCount)
                }
                guard size > 0 else { throw fault(start, "a subsegment of no bytes") }
                references.append(
                    SegmentIndex.Reference(
                        time: time, duration: UInt64(reference.duration), byteRange: position..<(position + size),
                        startsWithSAP: reference.accessPointWord >> 31 == 1))
            }
            // At most 65,535 times 32 bits above a 63-bit number each: no overflow of 64 bits.
            position += size
            time += UInt64(reference.duration)
        }
        guard position <= UInt64(Int64.max), time <= UInt64(Int64.max) else {
            throw fault(start, "the references pass 63 bits")
        }
    }

    private mutating func follow(to position: UInt64, from start: Int, depth: Int) throws(ManifestError) {
        guard let offset, position >= offset, position - offset < UInt64(bytes.count) else {
            throw fault(start, "an index inside lies outside of the bytes that were fetched")
        }
        let next = Int(position - offset)
        // Forwards only, so that no index can lead back to itself.
        guard next > start else { throw fault(start, "an index refers backwards") }
        try parseIndex(at: next, depth: depth + 1)
    }

    private static func box(_ body: ArraySlice<UInt8>) throws(WireError) -> Box {
        var reader = WireReader(body)
        let version = try reader.integer(UInt32.self) >> 24
        _ = try reader.integer(UInt32.self)  // reference_ID
        let timescale = try reader.integer(UInt32.self)
        let isWide = version != 0
        let earliestTime = isWide ? try reader.integer(UInt64.self) : UInt64(try reader.integer(UInt32.self))
        let firstOffset = isWide ? try reader.integer(UInt64.self) : UInt64(try reader.integer(UInt32.self))
        guard earliestTime <= UInt64(Int64.max) else { throw .invalid(field: "earliest_presentation_time") }
        _ = try reader.integer(UInt16.self)  // reserved
        let count = Int(try reader.integer(UInt16.self))
        guard count * 12 <= reader.remaining else {
            throw .truncated(needed: count * 12, available: reader.remaining)
        }
        var references: [(UInt32, UInt32, UInt32)] = []
        references.reserveCapacity(count)
        for _ in 0..<count {
            references.append((try reader.integer(), try reader.integer(), try reader.integer()))
        }
        return Box(timescale: timescale, earliestTime: earliestTime, firstOffset: firstOffset, references: references)
    }
}
