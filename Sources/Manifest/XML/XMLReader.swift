internal import CLibXML2

/// Reads an XML document into elements through libxml2's SAX2 interface.
///
/// A document type declaration is refused, so there are no entities but XML's own five, nothing is expanded and nothing
/// is fetched. The bytes must be UTF-8, which every XML reader knows and manifests are. Depth, elements and attributes are bounded by ``ManifestLimits``. A document that is cut off, or not
/// well-formed otherwise, is an error; an undeclared prefix is not, because libxml2 can go on and manifests have it.
///
/// This is the only file of the module that touches C memory.
@safe final class XMLReader {
    private var stack: [XMLElement] = []
    private var root: XMLElement?
    private var elementCount = 0
    private var failure: ManifestError?
    private var warnings: [ManifestWarning] = []
    /// libxml2's state; set while ``read(_:)`` runs.
    private var context: xmlParserCtxtPtr?

    private init() {}

    /// Called once before the first use, as libxml2 asks for where threads share it.
    private static let isPrepared: Bool = {
        xmlInitParser()
        return true
    }()

    /// Reads a document.
    ///
    /// - Returns: The root element, and what was passed over.
    /// - Throws: ``ManifestError/notWellFormed(line:problem:)`` or ``ManifestError/tooLarge(what:limit:)``.
    static func read(_ bytes: [UInt8]) throws(ManifestError) -> (root: XMLElement, warnings: [ManifestWarning]) {
        precondition(isPrepared)
        if let fault = UTF8Check.firstFault(in: bytes) { throw .notUTF8(byteOffset: fault) }
        guard !XMLTagCheck.hasTagWithTooManyValues(bytes) else {
            throw .tooLarge(what: "attributes of an element", limit: ManifestLimits.attributeCount)
        }
        let reader = XMLReader()
        reader.run(bytes)
        if let failure = reader.failure { throw failure }
        guard let root = reader.root else { throw .notWellFormed(line: 1, problem: "no element") }
        return (root, reader.warnings)
    }

    private func run(_ bytes: [UInt8]) {
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = UInt32(XML_SAX2_MAGIC)
        unsafe handler.internalSubset = { user, name, _, _ in unsafe XMLReader.of(user).refuseDocumentType(name) }
        unsafe handler.startElementNs = { user, name, _, _, _, _, count, _, attributes in
            unsafe XMLReader.of(user).start(name, attributes: attributes, count: Int(count))
        }
        unsafe handler.endElementNs = { user, _, _, _ in unsafe XMLReader.of(user).end() }
        unsafe handler.characters = { user, text, count in unsafe XMLReader.of(user).append(text, count: Int(count)) }
        unsafe handler.cdataBlock = { user, text, count in unsafe XMLReader.of(user).append(text, count: Int(count)) }
        unsafe handler.serror = { user, error in unsafe XMLReader.of(user).report(error) }
        // The reader outlives the parse, which ends before this function does: no reference is handed over.
        let user = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let context = unsafe xmlCreatePushParserCtxt(&handler, user, nil, 0, nil) else {
            failure = .notWellFormed(line: 0, problem: "no memory for a parser")
            return
        }
        unsafe self.context = context
        defer {
            unsafe self.context = nil
            unsafe xmlFreeParserCtxt(context)
        }
        // NOENT: without it `&amp;` in an attribute arrives as `&#38;`. There are no other entities than XML's five, because
        // a document type is refused before it could declare one.
        // IGNORE_ENC: the bytes were checked to be UTF-8, whatever their declaration says.
        let options =
            XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue | XML_PARSE_NOENT.rawValue
            | XML_PARSE_IGNORE_ENC.rawValue
        unsafe _ = xmlCtxtUseOptions(context, Int32(options))
        // In pieces, so that a document that is refused early costs little.
        var index = 0
        while index < bytes.count, failure == nil {
            let end = min(index + Self.pieceByteCount, bytes.count)
            unsafe bytes.withUnsafeBytes { buffer in
                let piece = unsafe buffer.baseAddress?.advanced(by: index).assumingMemoryBound(to: CChar.self)
                unsafe _ = xmlParseChunk(context, piece, Int32(end - index), 0)
            }
            index = end
        }
        if failure == nil { unsafe _ = xmlParseChunk(context, nil, 0, 1) }
        if failure == nil, unsafe context.pointee.wellFormed == 0 {
            failure = .notWellFormed(line: currentLine, problem: "the document breaks off")
        }
    }

    private static let pieceByteCount = 64 << 10

    private static func of(_ user: UnsafeMutableRawPointer?) -> XMLReader {
        guard let user = unsafe user else { preconditionFailure("libxml2 lost the reader") }
        return unsafe Unmanaged<XMLReader>.fromOpaque(user).takeUnretainedValue()
    }

    private var currentLine: Int {
        guard let context = unsafe context, let input = unsafe context.pointee.input else { return 0 }
        return unsafe Int(input.pointee.line)
    }

    private func stop(_ error: ManifestError) {
        if failure == nil { failure = error }
        unsafe xmlStopParser(context)
    }

    private func refuseDocumentType(_ name: UnsafePointer<xmlChar>?) {
        // The commonest way to it is a server's error page.
        if let name = unsafe name, unsafe Self.text(name).lowercased() == "html" {
            return stop(.unrecognized(beginning: "<!DOCTYPE html"))
        }
        stop(.notWellFormed(line: currentLine, problem: "a document type declaration is refused"))
    }

    private func start(
        _ name: UnsafePointer<xmlChar>?, attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
    ) {
        guard failure == nil else { return }
        elementCount += 1
        guard elementCount <= ManifestLimits.elementCount else {
            return stop(.tooLarge(what: "elements", limit: ManifestLimits.elementCount))
        }
        guard stack.count < ManifestLimits.elementDepth else {
            return stop(.tooLarge(what: "levels of elements", limit: ManifestLimits.elementDepth))
        }
        guard count <= ManifestLimits.attributeCount else {
            return stop(.tooLarge(what: "attributes of an element", limit: ManifestLimits.attributeCount))
        }
        var list: [XMLElement.Attribute] = []
        list.reserveCapacity(count)
        if let attributes = unsafe attributes {
            for index in 0..<count {
                // Five pointers an attribute: name, prefix, namespace, first byte of the value, the byte after its last.
                let fields = unsafe attributes + index * 5
                let prefix = unsafe fields[1].map { unsafe Self.text($0) + ":" } ?? ""
                guard let name = unsafe fields[0], let first = unsafe fields[3], let end = unsafe fields[4] else {
                    continue
                }
                let value = unsafe UnsafeBufferPointer(start: first, count: end - first)
                unsafe list.append(
                    XMLElement.Attribute(name: prefix + Self.text(name), value: String(decoding: value, as: UTF8.self)))
            }
        }
        guard let name = unsafe name else { return }
        stack.append(XMLElement(name: unsafe Self.text(name), line: currentLine, attributes: list))
    }

    private func end() {
        guard failure == nil, let element = stack.popLast() else { return }
        if stack.isEmpty {
            root = element
        } else {
            stack[stack.count - 1].children.append(element)
        }
    }

    private func append(_ text: UnsafePointer<xmlChar>?, count: Int) {
        guard failure == nil, !stack.isEmpty, let text = unsafe text else { return }
        let bytes = unsafe UnsafeBufferPointer(start: text, count: count)
        // White space between elements is most of what an indented document holds.
        if stack[stack.count - 1].text.isEmpty, unsafe bytes.allSatisfy(ASCII.isWhitespace) { return }
        unsafe stack[stack.count - 1].text += String(decoding: bytes, as: UTF8.self)
    }

    private func report(_ error: UnsafeMutablePointer<xmlError>?) {
        guard let error = unsafe error else { return }
        let line = unsafe Int(error.pointee.line)
        let text = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? ""
        var problem = String(text.prefix(200)).trimmed
        if unsafe error.pointee.code == Int32(XML_ERR_DOCUMENT_END.rawValue), let open = stack.last {
            problem = "the document breaks off inside \(open.name)"
        }
        if unsafe error.pointee.domain == Int32(XML_FROM_NAMESPACE.rawValue)
            || error.pointee.level == XML_ERR_WARNING
        {
            warnings.warn(problem, line: line)
        } else if failure == nil {
            failure = .notWellFormed(line: line, problem: problem)
        }
    }

    private static func text(_ name: UnsafePointer<xmlChar>) -> String {
        unsafe String(decodingCString: name, as: UTF8.self)
    }
}
