/// The bytes of one run of a fuzz target, read from the front.
///
/// What a target needs beside the parser's own bytes (an option, a length, where to cut) comes off the front, so that the
/// fuzzer's mutations reach it.
public struct FuzzInput {
    private var bytes: ArraySlice<UInt8>

    /// Copies what libFuzzer hands over.
    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = start.map { [UInt8](UnsafeBufferPointer(start: $0, count: count))[...] } ?? []
    }

    /// Whether everything has been read.
    public var isEmpty: Bool { bytes.isEmpty }

    /// The next byte; 0 after the end.
    public mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// The next piece: a byte that says how long, then so many bytes, fewer at the end.
    public mutating func piece() -> [UInt8] {
        let count = Int(byte())
        defer { bytes = bytes.dropFirst(count) }
        return [UInt8](bytes.prefix(count))
    }

    /// Everything that is left.
    public mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return [UInt8](bytes)
    }

    /// Everything that is left, as text; invalid UTF-8 is repaired.
    public mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

    /// What is left, either as it is or as edits of something valid, which reach behind lengths and checks that random bytes
    /// don't pass. The first byte chooses; an edit is a position, what to do there, and a piece.
    public mutating func bytes(orEditing valid: [UInt8]) -> [UInt8] {
        guard byte() & 1 == 1 else { return rest() }
        var edited = valid
        while !isEmpty, edited.count < 1 << 16 {
            let position = min(Int(byte()) << 8 | Int(byte()), edited.count)
            let kind = byte()
            let piece = piece()
            switch kind % 4 {
            case 0: edited.insert(contentsOf: piece, at: position)
            case 1: edited.removeSubrange(position..<min(position + piece.count, edited.count))
            case 2: edited.removeSubrange(position...)
            default:
                let end = min(position + piece.count, edited.count)
                edited.replaceSubrange(position..<end, with: piece.prefix(end - position))
            }
        }
        return edited
    }
}
