/// A patch of an MPD: ISO/IEC 23009-1, section 5.15 and annex C, which is RFC 5261 with a part of XPath.
enum MPDPatch {
    /// Why a patch can't be applied. The MPD is as before; it is to be loaded whole.
    enum Fault: Error, Equatable {
        /// It is for another MPD, or for another state of it.
        case otherManifest
        /// A place is named in a way that isn't understood, or isn't there.
        case noPlace(String)
        /// It costs more than ``ManifestLimits``.
        case tooLarge
        case malformed(String)
    }

    /// One step of a path: an element by name, position or an attribute's value; or an attribute.
    private enum Step {
        case element(name: String, position: Int?, attribute: (name: String, value: String)?)
        case attribute(String)
    }

    /// Applies a patch.
    ///
    /// - Parameters:
    ///   - patch: The document's root.
    ///   - root: That of the MPD.
    /// - Returns: The new MPD's root.
    static func apply(_ patch: XMLElement, to root: XMLElement) throws(Fault) -> XMLElement {
        guard patch.name == "Patch" else { throw .malformed("the root is no Patch") }
        guard patch["mpdId"] == root["id"], patch["originalPublishTime"] == root["publishTime"] else {
            throw .otherManifest
        }
        guard patch.children.count <= ManifestLimits.patchOperationCount else { throw .tooLarge }
        var result = root
        var visits = 0
        for operation in patch.children {
            let selector = operation["sel"] ?? ""
            let steps = try Self.steps(selector)
            guard case .element(let name, _, _)? = steps.first, name == root.name else { throw .noPlace(selector) }
            let rest = steps.dropFirst()
            if rest.isEmpty, operation.name != "add" { throw .malformed("the root can't be taken away") }
            try change(&result, rest, operation, selector, &visits)
        }
        var count = 0
        guard Self.isWithinLimit(result, &count) else { throw .tooLarge }
        return result
    }

    private static func isWithinLimit(_ element: XMLElement, _ count: inout Int) -> Bool {
        count += 1
        guard count <= ManifestLimits.elementCount else { return false }
        for child in element.children where !isWithinLimit(child, &count) { return false }
        return true
    }

    // MARK: - Paths

    /// Takes `/MPD/Period[@id='1']/AdaptationSet[2]/@lang` apart. Prefixes of names are passed over.
    private static func steps(_ selector: String) throws(Fault) -> [Step] {
        var steps: [Step] = []
        var rest = Array(selector.utf8)[...]
        guard rest.count <= 4_096 else { throw .noPlace(String(selector.prefix(64))) }
        while let slash = rest.popFirst() {
            guard slash == ASCII.slash, steps.count <= ManifestLimits.elementDepth else { throw .noPlace(selector) }
            if rest.first == ASCII.at {
                steps.append(.attribute(rest.dropFirst().text))
                return steps
            }
            let nameEnd = rest.firstIndex { $0 == ASCII.slash || $0 == UInt8(ascii: "[") } ?? rest.endIndex
            let name = localName(rest[..<nameEnd].text)
            rest = rest[nameEnd...]
            guard rest.first == UInt8(ascii: "[") else {
                steps.append(.element(name: name, position: nil, attribute: nil))
                continue
            }
            rest.removeFirst()
            if rest.first == ASCII.at {
                rest.removeFirst()
                guard let equals = rest.firstIndex(of: ASCII.equals), equals + 1 < rest.endIndex,
                    rest[equals + 1] == ASCII.quote || rest[equals + 1] == UInt8(ascii: "'"),
                    let end = rest[(equals + 2)...].firstIndex(of: rest[equals + 1]), end + 1 < rest.endIndex,
                    rest[end + 1] == UInt8(ascii: "]")
                else { throw .noPlace(selector) }
                let attribute = (name: rest[..<equals].text, value: rest[(equals + 2)..<end].text)
                steps.append(.element(name: name, position: nil, attribute: attribute))
                rest = rest[(end + 2)...]
            } else {
                guard let end = rest.firstIndex(of: UInt8(ascii: "]")),
                    let position = NumberText.unsigned(rest[..<end]),
                    (1...UInt64(ManifestLimits.elementCount)).contains(position)
                else { throw .noPlace(selector) }
                steps.append(.element(name: name, position: Int(position), attribute: nil))
                rest = rest[(end + 1)...]
            }
        }
        return steps
    }

    private static func localName(_ name: String) -> String {
        String(name.split(separator: ":", omittingEmptySubsequences: false).last ?? "")
    }

    private static func index(
        of step: Step, in element: XMLElement, _ selector: String, _ visits: inout Int
    ) throws(Fault) -> Int {
        guard case .element(let name, let position, let attribute) = step else { throw .noPlace(selector) }
        var seen = 0
        for (index, child) in element.children.enumerated() {
            visits += 1
            guard visits <= ManifestLimits.patchVisitCount else { throw .tooLarge }
            guard child.name == name else { continue }
            seen += 1
            if let attribute {
                if child[attribute.name] == attribute.value { return index }
            } else if seen == position ?? 1 {
                return index
            }
        }
        throw .noPlace(selector)
    }

    // MARK: - Operations

    /// Carries an operation out at the end of a path.
    private static func change(
        _ element: inout XMLElement, _ steps: ArraySlice<Step>, _ operation: XMLElement, _ selector: String,
        _ visits: inout Int
    ) throws(Fault) {
        switch (steps.first, operation.name) {
        case (nil, "add"): try add(to: &element, operation)
        case (.attribute(let name)?, _): try change(attribute: name, of: &element, operation, selector)
        case (.element?, _):
            let index = try index(of: steps[steps.startIndex], in: element, selector, &visits)
            guard steps.count == 1 else {
                return try change(&element.children[index], steps.dropFirst(), operation, selector, &visits)
            }
            // What stands behind the place moves.
            visits += element.children.count - index
            switch (operation.name, operation["pos"]) {
            case ("remove", _): element.children.remove(at: index)
            case ("replace", _):
                guard operation.children.count == 1 else { throw .malformed("replace with other than one element") }
                element.children[index] = operation.children[0]
            case ("add", "before"?): element.children.insert(contentsOf: operation.children, at: index)
            case ("add", "after"?): element.children.insert(contentsOf: operation.children, at: index + 1)
            case ("add", _): try add(to: &element.children[index], operation)
            default: throw .malformed("an operation \(operation.name.prefix(32))")
            }
        default: throw .malformed("an operation \(operation.name.prefix(32))")
        }
    }

    private static func add(to element: inout XMLElement, _ operation: XMLElement) throws(Fault) {
        if let type = operation["type"] {
            guard type.hasPrefix("@") else { throw .malformed("type \(type.prefix(32))") }
            return set(String(type.dropFirst()), operation.text.trimmed, of: &element)
        }
        switch operation["pos"] {
        case "prepend"?: element.children.insert(contentsOf: operation.children, at: 0)
        case nil: element.children += operation.children
        default: throw .malformed("a place beside the root")
        }
        if operation.children.isEmpty { element.text += operation.text }
    }

    private static func change(
        attribute name: String, of element: inout XMLElement, _ operation: XMLElement, _ selector: String
    ) throws(Fault) {
        switch operation.name {
        case "remove":
            guard element[name] != nil else { throw .noPlace(selector) }
            element.attributes.removeAll { $0.name == name }
        case "replace":
            guard element[name] != nil else { throw .noPlace(selector) }
            set(name, operation.text.trimmed, of: &element)
        case "add": set(name, operation.text.trimmed, of: &element)
        default: throw .malformed("an operation \(operation.name.prefix(32))")
        }
    }

    private static func set(_ name: String, _ value: String, of element: inout XMLElement) {
        if let index = element.attributes.firstIndex(where: { $0.name == name }) {
            element.attributes[index].value = value
        } else if element.attributes.count < ManifestLimits.attributeCount {
            element.attributes.append(XMLElement.Attribute(name: name, value: value))
        }
    }
}
