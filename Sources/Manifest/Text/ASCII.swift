/// The ASCII characters that manifests are built from.
enum ASCII {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let hash = UInt8(ascii: "#")
    static let dollar = UInt8(ascii: "$")
    static let percent = UInt8(ascii: "%")
    static let comma = UInt8(ascii: ",")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")
    static let slash = UInt8(ascii: "/")
    static let colon = UInt8(ascii: ":")
    static let equals = UInt8(ascii: "=")
    static let question = UInt8(ascii: "?")
    static let at = UInt8(ascii: "@")
    static let zero = UInt8(ascii: "0")

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    static func isWhitespace(_ byte: UInt8) -> Bool { isBlank(byte) || byte == lineFeed || byte == carriageReturn }

    static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- zero }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

extension ArraySlice<UInt8> {
    /// The slice without blanks at both ends.
    var trimmingBlanks: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, ASCII.isWhitespace(first) { slice.removeFirst() }
        while let last = slice.last, ASCII.isWhitespace(last) { slice.removeLast() }
        return slice
    }

    /// The bytes as text; they were checked to be UTF-8 before.
    var text: String { String(decoding: self, as: UTF8.self) }

    func starts(withASCII prefix: StaticString) -> Bool { starts(with: prefix.asciiBytes) }
}

extension StaticString {
    /// The bytes of a literal.
    var asciiBytes: [UInt8] { Array(description.utf8) }
}

extension String {
    /// The text without white space at both ends.
    var trimmed: String {
        let bytes = Array(utf8)[...]
        return bytes.trimmingBlanks.text
    }
}
