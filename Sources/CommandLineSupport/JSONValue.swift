/// A JSON document (RFC 8259) whose members keep their order, so that equal figures print equal bytes.
public enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int)
    /// A whole number that an `Int` does not hold.
    case unsigned(UInt64)
    /// A number that is not whole; not finite prints as null.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a.count == b.count && zip(a, b).allSatisfy { $0 == $1 }
        case (.null, _), (.boolean, _), (.integer, _), (.unsigned, _), (.number, _), (.string, _), (.array, _),
            (.object, _):
            false
        }
    }

    /// The value of an object's member.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The document's text: indented by two spaces, or on one line.
    public func text(isIndented: Bool = true) -> String {
        var text = ""
        write(into: &text, indentation: isIndented ? 0 : nil)
        return text
    }

    private func write(into text: inout String, indentation: Int?) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .unsigned(let value): text += String(value)
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): Self.quote(value, into: &text)
        case .array(let items):
            Self.list(items, "[", "]", into: &text, indentation: indentation) { item, text, indentation in
                item.write(into: &text, indentation: indentation)
            }
        case .object(let members):
            Self.list(members, "{", "}", into: &text, indentation: indentation) { member, text, indentation in
                Self.quote(member.name, into: &text)
                text += indentation == nil ? ":" : ": "
                member.value.write(into: &text, indentation: indentation)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item], _ opening: String, _ closing: String, into text: inout String, indentation: Int?,
        _ write: (Item, inout String, Int?) -> Void
    ) {
        text += opening
        for (index, item) in items.enumerated() {
            if index > 0 { text += "," }
            if let indentation { text += "\n" + String(repeating: " ", count: indentation + 2) }
            write(item, &text, indentation.map { $0 + 2 })
        }
        if let indentation, !items.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
        text += closing
    }

    private static func quote(_ value: String, into text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { (name: $0.0, value: $0.1) })
    }

    /// A whole number, or null when it is not known.
    public init(_ value: Int?) { self = value.map { .integer($0) } ?? .null }
    /// A whole number of any size.
    public init(_ value: UInt64) { self = Int(exactly: value).map { .integer($0) } ?? .unsigned(value) }
    /// A number, or null when it is not known.
    public init(_ value: Double?) { self = value.map { .number($0) } ?? .null }
    /// A string, or null when there is none.
    public init(_ value: String?) { self = value.map { .string($0) } ?? .null }
}

extension JSONValue: Decodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes any document; the members of an object come in the order of their names.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(try names.map { ($0.stringValue, try container.decode(JSONValue.self, forKey: $0)) })
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var items: [JSONValue] = []
            while !container.isAtEnd { items.append(try container.decode(JSONValue.self)) }
            self = .array(items)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }
}
