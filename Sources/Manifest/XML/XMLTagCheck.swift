/// Finds start tags with very many attributes before libxml2 sees them, because its time for one tag grows with the square
/// of their number.
enum XMLTagCheck {
    private enum State {
        case text
        case tag
        case value(quote: UInt8)
        /// A comment, a CDATA section or a processing instruction, up to these bytes.
        case until([UInt8])
    }

    private static let commentStart = Array("!--".utf8)
    private static let commentEnd = Array("-->".utf8)
    private static let sectionStart = Array("![CDATA[".utf8)
    private static let sectionEnd = Array("]]>".utf8)
    private static let instructionEnd = Array("?>".utf8)

    /// Whether a tag has more quoted values than ``ManifestLimits/attributeCount`` and a few namespace declarations.
    ///
    /// - Complexity: O(*n*).
    static func hasTagWithTooManyValues(_ bytes: [UInt8]) -> Bool {
        let limit = ManifestLimits.attributeCount * 2
        var state = State.text
        var valueCount = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch state {
            case .text:
                guard byte == UInt8(ascii: "<") else { continue }
                valueCount = 0
                let rest = bytes[index...]
                if rest.starts(with: commentStart) {
                    state = .until(commentEnd)
                    index += 3
                } else if rest.starts(with: sectionStart) {
                    state = .until(sectionEnd)
                } else if rest.first == ASCII.question {
                    state = .until(instructionEnd)
                } else {
                    state = .tag
                }
            case .tag:
                if byte == UInt8(ascii: ">") {
                    state = .text
                } else if byte == ASCII.quote || byte == UInt8(ascii: "'") {
                    valueCount += 1
                    if valueCount > limit { return true }
                    state = .value(quote: byte)
                }
            case .value(let quote):
                if byte == quote { state = .tag }
            case .until(let end):
                if byte == UInt8(ascii: ">"), bytes[..<index].suffix(end.count).elementsEqual(end) {
                    state = .text
                }
            }
        }
        return false
    }
}
