/// An element of an XML document, with all that is in it.
struct XMLElement: Sendable {
    /// An attribute. Its name has the prefix that the text gave it; which prefix stands for which namespace is not looked
    /// at, because manifests in the field declare them wrongly.
    struct Attribute: Sendable {
        var name: String
        var value: String
    }

    /// The name without prefix.
    let name: String
    /// The line of its start tag, from 1.
    let line: Int
    var attributes: [Attribute]
    /// Elements in it, in order.
    var children: [XMLElement] = []
    /// The text directly in it, joined.
    var text = ""

    /// The value of the attribute of this name, prefix included.
    subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The value of the first attribute of this name, whatever its prefix.
    func attribute(named localName: String) -> String? {
        attributes.first { attribute in
            attribute.name == localName
                || attribute.name.hasSuffix(localName)
                    && attribute.name.utf8.dropLast(localName.utf8.count).last == ASCII.colon
        }?.value
    }

    /// The elements of this name in it.
    func children(_ name: String) -> some Sequence<XMLElement> { children.lazy.filter { $0.name == name } }

    /// The first element of this name in it.
    func first(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}
