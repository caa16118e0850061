/// A template of SegmentTemplate with what doesn't change filled in: ISO/IEC 23009-1, section 5.3.9.4.4.
struct DASHTemplate: Hashable, Sendable {
    private enum Token: Hashable, Sendable {
        case literal(String)
        case number(Format)
        case time(Format)
        case subNumber(Format)
    }

    /// `%0[width]d`, and the `x` and `o` that other players take as well.
    private struct Format: Hashable, Sendable {
        var width = 1
        var radix = 10
        var isUppercase = false

        func text(_ value: UInt64) -> String {
            let digits = String(value, radix: radix, uppercase: isUppercase)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }

        /// Widths above this are cut, so that a template can't ask for a gigabyte of zeros.
        static let widthLimit = 64
    }

    private let tokens: [Token]

    /// Takes a template apart. An identifier that isn't known stays as it is, dollars included, and so does a dollar
    /// without a second one. Where the template doesn't name segments, $Number$ and $Time$ aren't known.
    init(_ text: String, representationID: String?, bandwidth: UInt64?, namesSegments: Bool = true) {
        var tokens: [Token] = []
        var literal: [UInt8] = []
        func flush() {
            if !literal.isEmpty { tokens.append(.literal(String(decoding: literal, as: UTF8.self))) }
            literal = []
        }
        var rest = Array(text.utf8)[...]
        while let next = rest.popFirst() {
            guard next == ASCII.dollar, let end = rest.firstIndex(of: ASCII.dollar) else {
                literal.append(next)
                continue
            }
            let inside = rest[..<end]
            let nameEnd = inside.firstIndex(of: ASCII.percent) ?? inside.endIndex
            let format = Self.format(inside[nameEnd...])
            switch (inside[..<nameEnd].text, format) {
            case ("", _) where inside.isEmpty: literal.append(ASCII.dollar)
            // A width isn't allowed here; it is ignored.
            case ("RepresentationID", _): literal.append(contentsOf: (representationID ?? "").utf8)
            case ("Bandwidth", let format?): literal.append(contentsOf: format.text(bandwidth ?? 0).utf8)
            case ("Number", let format?) where namesSegments:
                flush()
                tokens.append(.number(format))
            case ("Time", let format?) where namesSegments:
                flush()
                tokens.append(.time(format))
            case ("SubNumber", let format?) where namesSegments:
                flush()
                tokens.append(.subNumber(format))
            default:
                // The closing dollar may open the next identifier.
                literal.append(ASCII.dollar)
                continue
            }
            rest = rest[(end + 1)...]
        }
        flush()
        self.tokens = tokens
    }

    private static func format(_ text: ArraySlice<UInt8>) -> Format? {
        guard !text.isEmpty else { return Format() }
        var format = Format()
        let digits = text.dropFirst().dropLast()
        switch text.last {
        case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"): break
        case UInt8(ascii: "x"): format.radix = 16
        case UInt8(ascii: "X"): (format.radix, format.isUppercase) = (16, true)
        case UInt8(ascii: "o"): format.radix = 8
        default: return nil
        }
        if !digits.isEmpty {
            guard let width = NumberText.unsigned(digits) else { return nil }
            format.width = Int(min(width, UInt64(Format.widthLimit)))
        }
        return format
    }

    /// The reference of one segment.
    func expanded(number: UInt64, time: UInt64) -> String {
        var text = ""
        for token in tokens {
            switch token {
            case .literal(let literal): text += literal
            case .number(let format): text += format.text(number)
            case .time(let format): text += format.text(time)
            case .subNumber(let format): text += format.text(1)
            }
        }
        return text
    }

    /// The template with $Number$ and $Time$ as they are: the same for each segment.
    var pattern: String {
        tokens.map { token in
            switch token {
            case .literal(let literal): literal
            case .number: "$Number$"
            case .time: "$Time$"
            case .subNumber: "$SubNumber$"
            }
        }.joined()
    }
}
