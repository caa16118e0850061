internal import CommandLineSupport
internal import CoreModel

/// An object of a scenario while it is read: knows its path and its keys, so that an error can name them.
///
/// `null` counts as a key that isn't there.
struct ScenarioObject {
    /// The path of the object; empty for the document.
    let path: String
    let files: ScenarioFiles
    private let members: [(name: String, value: JSONValue)]

    /// - Throws: when `value` is no object or has a key that isn't among `keys`.
    init(_ value: JSONValue, at path: String, keys: [String], files: ScenarioFiles) throws(ScenarioError) {
        guard case .object(let members) = value else {
            throw .wrongValue(
                path.isEmpty ? "the scenario" : path, found: Self.found(value),
                allowed: "an object with the keys \(keys.joined(separator: ", "))")
        }
        self.path = path
        self.files = files
        self.members = members
        for member in members where !keys.contains(member.name) {
            throw .unknownKey(self.path(of: member.name), allowed: keys)
        }
    }

    /// The path of a member.
    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The member, unless it is missing or null.
    func value(_ key: String) -> JSONValue? {
        members.first { $0.name == key && $0.value != .null }?.value
    }

    func has(_ key: String) -> Bool { value(key) != nil }

    // MARK: One value

    func text(_ key: String, allowed: String) throws(ScenarioError) -> String? {
        guard let value = value(key) else { return nil }
        guard case .string(let text) = value, !text.isEmpty else { throw wrong(key, value, allowed) }
        // Reports go to terminals.
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw wrong(key, value, "\(allowed), without control characters")
        }
        return text
    }

    func boolean(_ key: String, default standard: Bool) throws(ScenarioError) -> Bool {
        guard let value = value(key) else { return standard }
        guard case .boolean(let flag) = value else { throw wrong(key, value, "true or false") }
        return flag
    }

    /// One of an enum's names; `standard` `nil` makes the key a must.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, default standard: Choice? = nil
    ) throws(ScenarioError) -> Choice {
        let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        guard let value = value(key) else {
            guard let standard else { throw .missingKey(path(of: key), allowed: "one of \(allowed)") }
            return standard
        }
        guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
            throw wrong(key, value, "one of \(allowed)")
        }
        return choice
    }

    func count(_ key: String, in range: ClosedRange<Int>) throws(ScenarioError) -> Int? {
        guard let value = value(key) else { return nil }
        guard case .integer(let count) = value, range.contains(count) else {
            throw wrong(key, value, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    func quantity(_ key: String, _ unit: ScenarioUnit, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
        guard let value = value(key) else { return nil }
        return try Self.quantity(value, at: path(of: key), unit, in: range)
    }

    /// A quantity that must be there.
    func required(_ key: String, _ unit: ScenarioUnit, in range: ClosedRange<Double>) throws(ScenarioError) -> Double {
        guard let value = try quantity(key, unit, in: range) else {
            throw .missingKey(path(of: key), allowed: unit.allowed(range))
        }
        return value
    }

    static func quantity(
        _ value: JSONValue, at path: String, _ unit: ScenarioUnit, in range: ClosedRange<Double>
    ) throws(ScenarioError) -> Double {
        guard let number = unit.parse(value), range.contains(number) else {
            throw .wrongValue(path, found: Self.found(value), allowed: unit.allowed(range))
        }
        return number
    }

    // MARK: Objects and lists

    func object(_ key: String, keys: [String]) throws(ScenarioError) -> ScenarioObject? {
        guard let value = value(key) else { return nil }
        return try ScenarioObject(value, at: path(of: key), keys: keys, files: files)
    }

    /// A list's items with their paths; `nil` when it isn't there.
    func list(_ key: String, count range: ClosedRange<Int>, of what: String) throws(ScenarioError) -> [Item]? {
        guard let value = value(key) else { return nil }
        guard case .array(let items) = value, range.contains(items.count) else {
            throw wrong(key, value, "a list of \(range.lowerBound) to \(range.upperBound) \(what)")
        }
        return items.enumerated().map { Item(value: $1, path: "\(path(of: key))[\($0)]") }
    }

    struct Item {
        let value: JSONValue
        let path: String
    }

    // MARK: Files

    /// The content of the file that a key names.
    func file(_ key: String) throws(ScenarioError) -> (name: String, bytes: [UInt8])? {
        guard let name = try text(key, allowed: "the name of a file, relative to the scenario") else { return nil }
        do {
            return (name, try files.read(name))
        } catch {
            throw .file(path(of: key), name: name, reason: error.reason)
        }
    }

    // MARK: Errors

    func wrong(_ key: String, _ value: JSONValue, _ allowed: String) -> ScenarioError {
        .wrongValue(path(of: key), found: Self.found(value), allowed: allowed)
    }

    /// The value as an error shows it: no longer than a line.
    static func found(_ value: JSONValue) -> String {
        let text = value.text(isIndented: false)
        return text.utf8.count > 80 ? String(text.prefix(77)) + "..." : text
    }
}
