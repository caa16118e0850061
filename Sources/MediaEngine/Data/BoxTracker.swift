/// Follows the boxes of MP4 bytes in any split, to tell when they are out of step, and when one that describes samples
/// says more than it holds.
struct BoxTracker {
    private var header: [UInt8] = []
    /// What is left of each container that has begun, the outermost first.
    private var containers: [(type: BoxType, left: UInt64)] = []
    /// Whether the track that has begun said its number. Without one libavformat takes an error for a place in its index,
    /// and counts up from it.
    private var isTrackNumbered = false
    /// What is left of the box; nil between boxes, `.max` for a box that runs to the end.
    private var remaining: UInt64?
    /// The table that has begun, until its head is there.
    private var table: (type: BoxType, byteCount: UInt64, head: [UInt8])?

    /// Whether no box has begun that is not complete.
    var isAtBorder: Bool { (remaining == nil && header.isEmpty && containers.isEmpty) || remaining == .max }

    /// Containers inside of each other; a sample table's lie five deep.
    private static let depthLimit = 8
    private static let containerTypes: Set<BoxType> = [
        BoxType("moov"), BoxType("trak"), BoxType("mdia"), BoxType("minf"), BoxType("stbl"), BoxType("edts"),
        BoxType("moof"), BoxType("traf"), BoxType("mfra"),
    ]

    /// Takes the next bytes. False when they can't be boxes.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard remaining == nil ? takeHeader(&rest) : takePayload(&rest) else { return false }
        }
        return true
    }

    private mutating func takePayload(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let left = remaining else { return true }
        guard left != .max else {
            rest = []
            return true
        }
        let count = Int(min(left, UInt64(rest.count)))
        guard takeTable(rest.prefix(count)) else { return false }
        rest = rest.dropFirst(count)
        remaining = left == UInt64(count) ? nil : left - UInt64(count)
        return leave(count)
    }

    /// Looks at the head of a table as soon as it is there; false when the entries don't fit.
    private mutating func takeTable(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let begun = table else { return true }
        let head = begun.head + bytes.prefix(SampleTable.headByteCount - begun.head.count)
        let isWhole = head.count == SampleTable.headByteCount || UInt64(head.count) == begun.byteCount
        table = isWhole ? nil : (begun.type, begun.byteCount, head)
        return !isWhole || SampleTable.isPlausible(begun.type, head: head, byteCount: begun.byteCount)
    }

    /// Takes note that bytes of the containers that have begun went by, and ends those that are over.
    private mutating func leave(_ count: Int) -> Bool {
        for index in containers.indices { containers[index].left -= UInt64(count) }
        while let last = containers.last, last.left == 0 {
            containers.removeLast()
            guard last.type != BoxType("trak") || isTrackNumbered else { return false }
        }
        return true
    }

    private mutating func takeHeader(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if let left = containers.last?.left, left < UInt64(header.count + 8), header.isEmpty {
            // A few writers leave a zero word at the end of a container.
            remaining = left
            return true
        }
        var wanted: Int { header.count >= 4 && header[..<4].elementsEqual([0, 0, 0, 1]) ? 16 : 8 }
        while header.count < wanted, let byte = rest.popFirst() { header.append(byte) }
        guard header.count == wanted else { return true }
        let type = BoxType(header[4..<8])
        let short = header[..<4].reduce(0) { $0 << 8 | UInt64($1) }
        let size = short == 1 ? header[8...].reduce(0) { $0 << 8 | UInt64($1) } : short
        let headerByteCount = header.count
        header = []
        // Only the short size may be 0, which means that the box runs to the end.
        if short == 0, containers.isEmpty {
            remaining = .max
            return type == BoxType("mdat")
        }
        guard type.isPlausible, size >= UInt64(headerByteCount), size <= containers.last?.left ?? .max,
            size <= BoxType.metadataByteLimit || (type.mayBeLong && containers.isEmpty)
        else { return false }
        if type == BoxType("trak") { isTrackNumbered = false }
        if type == BoxType("tkhd") { isTrackNumbered = true }
        return leave(headerByteCount) && begin(type, byteCount: size - UInt64(headerByteCount))
    }

    private mutating func begin(_ type: BoxType, byteCount: UInt64) -> Bool {
        if Self.containerTypes.contains(type) {
            guard byteCount > 0 else { return type != BoxType("trak") }
            guard containers.count < Self.depthLimit else { return false }
            containers.append((type, byteCount))
            return true
        }
        if SampleTable.isTable(type) {
            guard byteCount > 0 else { return false }
            table = (type, byteCount, [])
        }
        remaining = byteCount == 0 ? nil : byteCount
        return true
    }
}
