package import CommandLineSupport

/// Reads JSON text (RFC 8259) strictly: members keep their order, a name may be there once, numbers without fraction or
/// exponent are whole.
///
/// Not Foundation's: a person writes scenarios, and needs the line and column of a mistake, which its decoders do not say
/// (nor that a key is there twice). Decision logs, which programs write a line at a time, are read with Foundation's.
package struct JSONReader {
    /// Bytes of the longest text that is read.
    package static let byteLimit = 64 << 20
    /// How deep arrays and objects nest at most.
    package static let depthLimit = 32

    private let bytes: [UInt8]
    private var position = 0

    /// Reads a whole document.
    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        guard bytes.count <= byteLimit else {
            throw JSONError(line: 1, column: 1, reason: .tooLong(limit: byteLimit))
        }
        var reader = JSONReader(bytes: bytes)
        reader.skipSpace()
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure("the end of the text") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ expected: String) -> JSONError { failure(.expected(expected)) }

    private func failure(_ reason: JSONError.Reason) -> JSONError {
        let before = bytes[..<min(position, bytes.count)]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return JSONError(
            line: 1 + before.count { $0 == UInt8(ascii: "\n") }, column: 1 + before.count - lineStart, reason: reason)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || (0x09...0x0D).contains(byte) && byte != 0x0B && byte != 0x0C {
            position += 1
        }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= Self.depthLimit else { throw failure(.tooDeep(limit: Self.depthLimit)) }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
        case _: throw failure("a value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: "\(word)".utf8) else { throw failure("a value") }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [(name: String, value: JSONValue)] = []
        var names: Set<String> = []
        skipSpace()
        if skip("}") { return .object([]) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a key in quotes") }
            let start = position
            let name = try string()
            guard names.insert(name).inserted else {
                position = start
                throw failure(.duplicateMember(name))
            }
            skipSpace()
            guard skip(":") else { throw failure("\":\"") }
            skipSpace()
            members.append((name, try value(depth: depth + 1)))
            skipSpace()
            if skip("}") { return .object(members) }
            guard skip(",") else { throw failure("\",\" or \"}\"") }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var items: [JSONValue] = []
        skipSpace()
        if skip("]") { return .array([]) }
        while true {
            skipSpace()
            items.append(try value(depth: depth + 1))
            skipSpace()
            if skip("]") { return .array(items) }
            guard skip(",") else { throw failure("\",\" or \"]\"") }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        _ = skip("-")
        let hasLeadingZero = next == UInt8(ascii: "0")
        let wholeCount = skipDigits()
        guard wholeCount == 1 || wholeCount > 1 && !hasLeadingZero else { throw failure("a digit") }
        var isWhole = true
        if skip(".") {
            isWhole = false
            guard skipDigits() > 0 else { throw failure("a digit") }
        }
        if skip("e") || skip("E") {
            isWhole = false
            if !skip("+") { _ = skip("-") }
            guard skipDigits() > 0 else { throw failure("a digit") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else {
            position = start
            throw failure("a number that 64 bits hold")
        }
        return .number(value)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            switch next {
            case nil, .some(0..<0x20): throw failure("the closing quote of a string")
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw failure("UTF-8 text") }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &content)
            case .some(let byte):
                content.append(byte)
                position += 1
            }
        }
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw failure("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800..<0xDC00).contains(code), skip("\\"), skip("u") {
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else { throw failure("the second half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("a surrogate pair") }
            content.append(contentsOf: String(Character(scalar)).utf8)
        case _:
            position -= 1
            throw failure("one of the escapes of JSON")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count,
            bytes[position..<position + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits") }
        position += 4
        return code
    }
}
