import CoreModel

/// A box whose bytes are all there: a cursor over its payload that checks before it reads (ISO/IEC 14496-12, 4.2).
struct BoxReader {
    let type: BoxType
    /// Where the four characters of the type stand in the bytes that hold the box; nil for a box that was made of its
    /// payload.
    private(set) var typeIndex: Int?
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    /// A box of which `bytes` is the payload.
    init(type: BoxType, payload bytes: ArraySlice<UInt8>) {
        self.type = type
        self.bytes = bytes
        index = bytes.startIndex
    }

    /// What is wrong with a box; the caller knows where it lies.
    struct Malformed: Error {
        let type: BoxType
    }

    var remaining: Int { bytes.endIndex - index }
    var malformed: Malformed { Malformed(type: type) }

    /// The next `count` bytes as a big-endian number.
    mutating func number(_ count: Int) throws(Malformed) -> UInt64 {
        guard remaining >= count else { throw malformed }
        defer { index += count }
        return bytes[index..<index + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func skip(_ count: Int) throws(Malformed) {
        guard count >= 0, remaining >= count else { throw malformed }
        index += count
    }

    /// Version and flags of a full box.
    mutating func versionAndFlags() throws(Malformed) -> (version: Int, flags: UInt32) {
        let word = try number(4)
        return (Int(word >> 24), UInt32(word & 0xFF_FFFF))
    }

    /// The next `count` bytes.
    mutating func bytes(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count >= 0, remaining >= count else { throw malformed }
        defer { index += count }
        return bytes[index..<index + count]
    }

    /// The next box inside; nil at the end. Each step consumes at least eight bytes.
    mutating func child() throws(Malformed) -> BoxReader? {
        // A few writers leave a zero word at the end of a container.
        guard remaining >= 8 else { return nil }
        let start = index
        var size = try number(4)
        let type = BoxType(UInt32(try number(4)))
        if size == 1 { size = try number(8) } else if size == 0 { size = UInt64(bytes.endIndex - start) }
        let header = index - start
        guard type.isPlausible, size >= UInt64(header), size <= UInt64(bytes.endIndex - start) else { throw malformed }
        let end = start + Int(size)
        defer { index = end }
        var box = BoxReader(type: type, payload: bytes[index..<end])
        box.typeIndex = start + 4
        return box
    }
}
