/// Base64 with the URL-safe alphabet and no padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            value <<= UInt32(8 * (3 - group.count))
            for index in 0...group.count { text.append(alphabet[Int(value >> UInt32(18 - 6 * index) & 63)]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` spells; `nil` for a foreign character, padding, an impossible length or unused bits that are
    /// not zero: each byte string has one spelling.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var value: UInt32 = 0
        var bits = 0
        for character in text.utf8 {
            guard let digit = digit(character) else { return nil }
            value = value << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
                value &= (1 << UInt32(bits)) - 1
            }
        }
        return bits < 6 && value == 0 ? bytes : nil
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
