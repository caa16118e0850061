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
}
