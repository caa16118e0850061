/// The variables of a playlist: RFC 8216bis, sections 4.3 and 4.4.2.3.
struct HLSVariables {
    /// Values to hand to EXT-X-DEFINE:IMPORT: the variables of the multivariant playlist.
    let imported: [String: String]
    let url: BaseURL
    private(set) var values: [String: String] = [:]

    init(imported: [String: String], url: BaseURL) {
        self.imported = imported
        self.url = url
    }

    /// Why a variable can't be defined or used.
    enum Fault: Error {
        case defined(twice: String)
        case noImport(String)
        case noQueryParameter(String)
        case undefined(String)
        case tooLong
        case malformedDefinition

        var description: String {
            switch self {
            case .defined(let name): "the variable \"\(name)\" is defined twice"
            case .noImport(let name): "the multivariant playlist defines no variable \"\(name)\""
            case .noQueryParameter(let name): "the playlist's URL has no query parameter \"\(name)\""
            case .undefined(let name): "the variable \"\(name)\" is not defined"
            case .tooLong: "variables bring in more than \(ManifestLimits.urlByteCount) bytes"
            case .malformedDefinition: "needs NAME with VALUE, IMPORT or QUERYPARAM"
            }
        }
    }

    /// Takes the definition in `attributes`.
    mutating func define(_ attributes: HLSAttributeList) throws(Fault) {
        let name: String
        let value: String
        if let given = attributes["NAME"], let text = attributes["VALUE"] {
            (name, value) = (given, text)
        } else if let given = attributes["IMPORT"] {
            guard let text = imported[given] else { throw .noImport(given) }
            (name, value) = (given, text)
        } else if let given = attributes["QUERYPARAM"] {
            guard let text = url.queryParameter(given) else { throw .noQueryParameter(given) }
            (name, value) = (given, text)
        } else {
            throw .malformedDefinition
        }
        guard values.updateValue(value, forKey: name) == nil else { throw .defined(twice: name) }
    }

    /// `text` with each `{$name}` replaced, in one pass: what a value brings in is not looked at again, so that
    /// variables can't grow through each other.
    ///
    /// - Complexity: O(*n*) in the bytes of text and result.
    func replacing(in text: String) throws(Fault) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "{")) else { return text }
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let end = Self.endOfReference(in: bytes, at: index) {
                let name = bytes[(index + 2)..<end].text
                guard let value = values[name] else { throw .undefined(name) }
                output.append(contentsOf: value.utf8)
                index = end + 1
            } else {
                output.append(bytes[index])
                index += 1
            }
            guard output.count <= ManifestLimits.urlByteCount else { throw .tooLong }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Where the brace is that closes a reference which begins at `index`; `nil` where none begins.
    ///
    /// - Complexity: O(the name's length): what follows the first byte that no name has is not looked at.
    private static func endOfReference(in bytes: [UInt8], at index: Int) -> Int? {
        guard bytes[index] == UInt8(ascii: "{"), index + 1 < bytes.count, bytes[index + 1] == ASCII.dollar,
            let end = bytes[(index + 2)...].firstIndex(where: { !isNameByte($0) }), end > index + 2,
            bytes[end] == UInt8(ascii: "}")
        else { return nil }
        return end
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.minus || byte == UInt8(ascii: "_")
    }
}
