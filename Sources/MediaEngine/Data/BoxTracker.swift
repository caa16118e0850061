/// Follows the top-level boxes of MP4 bytes in any split, to tell when they are out of step.
struct BoxTracker {
    private var header: [UInt8] = []
    /// What is left of the box; nil between boxes, `.max` for a box that runs to the end.
    private var remaining: UInt64?

    /// Whether no box has begun that is not complete.
    var isAtBorder: Bool { (remaining == nil && header.isEmpty) || remaining == .max }

    /// Takes the next bytes. False when they can't be boxes.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            if let left = remaining {
                guard left != .max else { return true }
                let count = Int(min(left, UInt64(rest.count)))
                rest = rest.dropFirst(count)
                remaining = left == UInt64(count) ? nil : left - UInt64(count)
            } else {
                guard takeHeader(&rest) else { return false }
            }
        }
        return true
    }

    private mutating func takeHeader(_ rest: inout ArraySlice<UInt8>) -> Bool {
        var wanted: Int { header.count >= 4 && header[..<4].elementsEqual([0, 0, 0, 1]) ? 16 : 8 }
        while header.count < wanted, let byte = rest.popFirst() { header.append(byte) }
        guard header.count == wanted else { return true }
        let type = BoxType(header[4..<8])
        let short = header[..<4].reduce(0) { $0 << 8 | UInt64($1) }
        let size = short == 1 ? header[8...].reduce(0) { $0 << 8 | UInt64($1) } : short
        let headerByteCount = UInt64(header.count)
        header = []
        // Only the short size may be 0, which means that the box runs to the end.
        if short == 0 {
            remaining = .max
            return type == BoxType("mdat")
        }
        guard type.isPlausible, size >= headerByteCount, size <= BoxType.metadataByteLimit || type.mayBeLong else {
            return false
        }
        remaining = size == headerByteCount ? nil : size - headerByteCount
        return true
    }
}
