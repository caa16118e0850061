/// The attributes of a tag in the order of the text: RFC 8216bis, section 4.2.
public struct HLSAttributeList: Hashable, Sendable {
    /// One attribute.
    public struct Attribute: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its value without quotes, variables replaced.
        public var value: String
        /// Whether the value stood in quotes.
        public var isQuoted: Bool
    }

    /// The attributes, each name once.
    public private(set) var attributes: [Attribute] = []

    /// Attributes of one tag; further ones are an error.
    static let limit = 64

    /// The value of `name`, or `nil`.
    public subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Whether `name` is there with the value `YES`.
    public func isYes(_ name: String) -> Bool { self[name] == "YES" }

    /// Why a list can't be read.
    enum Fault: Error, Equatable {
        case unterminatedQuote(name: String)
        case tooManyAttributes
    }

    /// Reads a list. Blanks around names and values are passed over, as is what holds no `=`; of a name that occurs
    /// twice the first is kept and `hasDuplicate` set.
    init(_ text: ArraySlice<UInt8>, hasDuplicate: inout Bool) throws(Fault) {
        var rest = text
        while !rest.isEmpty {
            let nameEnd = rest.firstIndex { $0 == ASCII.equals || $0 == ASCII.comma } ?? rest.endIndex
            let name = rest[..<nameEnd].trimmingBlanks
            guard nameEnd < rest.endIndex, rest[nameEnd] == ASCII.equals else {
                rest = rest[nameEnd...].dropFirst()
                continue
            }
            rest = rest[(nameEnd + 1)...]
            while let first = rest.first, ASCII.isBlank(first) { rest.removeFirst() }
            let isQuoted = rest.first == ASCII.quote
            var value: ArraySlice<UInt8>
            if isQuoted {
                rest.removeFirst()
                guard let end = rest.firstIndex(of: ASCII.quote) else { throw .unterminatedQuote(name: name.text) }
                value = rest[..<end]
                rest = rest[(end + 1)...]
                let comma = rest.firstIndex(of: ASCII.comma) ?? rest.endIndex
                rest = rest[comma...].dropFirst()
            } else {
                let end = rest.firstIndex(of: ASCII.comma) ?? rest.endIndex
                value = rest[..<end].trimmingBlanks
                rest = rest[end...].dropFirst()
            }
            guard !name.isEmpty else { continue }
            guard attributes.count < Self.limit else { throw .tooManyAttributes }
            let nameText = name.text
            if self[nameText] != nil {
                hasDuplicate = true
            } else {
                attributes.append(Attribute(name: nameText, value: value.text, isQuoted: isQuoted))
            }
        }
    }

    /// Replaces each value that may hold variables: quoted strings and hexadecimal sequences (RFC 8216bis, section 4.3).
    mutating func replaceValues<Failure>(
        _ replacement: (String) throws(Failure) -> String
    ) throws(Failure) {
        for index in attributes.indices where attributes[index].isQuoted || attributes[index].value.hasPrefix("0") {
            attributes[index].value = try replacement(attributes[index].value)
        }
    }
}
