/// The lines of a text, without their ends (LF or CR LF), and the number of the one last returned.
struct TextLines {
    private let bytes: [UInt8]
    private var position = 0
    /// The number of the line last returned, from 1.
    private(set) var number = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> ArraySlice<UInt8>? {
        guard position < bytes.count else { return nil }
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        var line = bytes[position..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        position = end + 1
        number += 1
        return line
    }
}
