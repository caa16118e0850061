/// A URL that references are resolved against: RFC 3986, section 5, on text.
///
/// Nothing is percent-encoded, decoded or lower-cased: what a manifest wrote goes to the server.
public struct BaseURL: Hashable, Sendable {
    /// The URL itself.
    public let text: String
    private let parts: Parts
    /// Scheme, authority and the path up to its last slash, without dot segments.
    private let directory: String

    /// Takes `text` as a base; the result of resolving against a text that is no absolute URL is as relative as it.
    public init(_ text: String) {
        self.text = text
        self.parts = Parts(text)
        var directory = parts
        directory.path = Parts.removingDotSegments(from: Parts.merging("", onto: parts))
        directory.query = nil
        directory.fragment = nil
        self.directory = directory.text
    }

    /// The target of `reference`: RFC 3986, section 5.2.2, in its strict form.
    ///
    /// - Complexity: O(*n*) in the length of the reference.
    public func resolve(_ reference: String) -> String {
        if Self.isPlainRelativePath(reference) { return directory + reference }
        let reference = Parts(reference)
        var target = reference
        target.fragment = reference.fragment
        if reference.scheme != nil {
            target.path = Parts.removingDotSegments(from: reference.path)
            return target.text
        }
        target.scheme = parts.scheme
        if reference.authority != nil {
            target.path = Parts.removingDotSegments(from: reference.path)
            return target.text
        }
        target.authority = parts.authority
        if reference.path.isEmpty {
            target.path = parts.path
            target.query = reference.query ?? parts.query
        } else if reference.path.utf8.first == ASCII.slash {
            target.path = Parts.removingDotSegments(from: reference.path)
        } else {
            target.path = Parts.removingDotSegments(from: Parts.merging(reference.path, onto: parts))
        }
        return target.text
    }

    /// The value of the query parameter `name`, percent-decoded; `nil` if the URL has none of that name.
    public func queryParameter(_ name: String) -> String? {
        guard let query = parts.query else { return nil }
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let nameEnd = pair.firstIndex(of: ASCII.equals) ?? pair.endIndex
            guard Self.percentDecoding(pair[..<nameEnd]) == name else { continue }
            return nameEnd == pair.endIndex ? "" : Self.percentDecoding(pair[pair.index(after: nameEnd)...])
        }
        return nil
    }

    /// The path without host, query and fragment.
    public var path: String { parts.path }

    /// Whether `reference` is a relative path whose target is the base's directory followed by it: no scheme, no
    /// leading slash, no dot segment. Nearly all segment names are, and skip the general algorithm.
    private static func isPlainRelativePath(_ reference: String) -> Bool {
        var previous = ASCII.slash
        var isBeforeSlash = true
        var isInPath = true
        for (index, byte) in reference.utf8.enumerated() {
            switch byte {
            case ASCII.slash where index == 0, ASCII.question where index == 0, ASCII.hash where index == 0:
                return false
            case ASCII.colon where isBeforeSlash && isInPath: return false
            case ASCII.point where previous == ASCII.slash && isInPath: return false
            case ASCII.slash: isBeforeSlash = false
            case ASCII.question, ASCII.hash: isInPath = false
            default: break
            }
            previous = byte
        }
        return previous != ASCII.slash || !isBeforeSlash
    }

    private static func percentDecoding(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            let next = text.index(after: index)
            if byte == ASCII.percent, let first = text[next...].first.flatMap(ASCII.hexadecimalValue),
                let second = text[next...].dropFirst().first.flatMap(ASCII.hexadecimalValue)
            {
                bytes.append(first << 4 | second)
                index = text.index(next, offsetBy: 2)
            } else {
                bytes.append(byte)
                index = next
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension BaseURL {
    /// The five components of RFC 3986, section 3; `nil` is absent, which is not the same as empty.
    struct Parts: Hashable, Sendable {
        var scheme: String?
        var authority: String?
        var path: String
        var query: String?
        var fragment: String?

        /// Splits a reference as the expression of RFC 3986, appendix B does.
        init(_ text: String) {
            var rest = Array(text.utf8)[...]
            if let colon = rest.firstIndex(of: ASCII.colon), let first = rest.first, ASCII.isLetter(first),
                rest[..<colon].allSatisfy(Self.isSchemeByte)
            {
                scheme = rest[..<colon].text
                rest = rest[(colon + 1)...]
            }
            if let hash = rest.firstIndex(of: ASCII.hash) {
                fragment = rest[(hash + 1)...].text
                rest = rest[..<hash]
            }
            if let question = rest.firstIndex(of: ASCII.question) {
                query = rest[(question + 1)...].text
                rest = rest[..<question]
            }
            if rest.starts(with: [ASCII.slash, ASCII.slash]) {
                rest = rest.dropFirst(2)
                let end = rest.firstIndex(of: ASCII.slash) ?? rest.endIndex
                authority = rest[..<end].text
                rest = rest[end...]
            }
            path = rest.text
        }

        /// The components put together again: RFC 3986, section 5.3.
        var text: String {
            var text = ""
            if let scheme { text += scheme + ":" }
            if let authority { text += "//" + authority }
            text += path
            if let query { text += "?" + query }
            if let fragment { text += "#" + fragment }
            return text
        }

        /// RFC 3986, section 5.2.3.
        static func merging(_ path: String, onto base: Parts) -> String {
            if base.authority != nil, base.path.isEmpty { return "/" + path }
            guard let slash = base.path.utf8.lastIndex(of: ASCII.slash) else { return path }
            return base.path[...slash] + path
        }

        /// RFC 3986, section 5.2.4, by segments.
        static func removingDotSegments(from path: String) -> String {
            guard hasDotSegment(path) else { return path }
            let isAbsolute = path.utf8.first == ASCII.slash
            let segments = path.utf8.split(separator: ASCII.slash, omittingEmptySubsequences: false)
            var output: [Substring.UTF8View] = []
            output.reserveCapacity(segments.count)
            for (index, segment) in segments.enumerated() {
                let isLast = index == segments.count - 1
                if segment.elementsEqual([ASCII.point]) {
                    if isLast { output.append(""[...].utf8) }
                } else if segment.elementsEqual([ASCII.point, ASCII.point]) {
                    // The empty segment in front of an absolute path's first slash stays.
                    if output.count > (isAbsolute ? 1 : 0) { output.removeLast() }
                    if isLast { output.append(""[...].utf8) }
                } else {
                    output.append(segment)
                }
            }
            return output.map { String(Substring($0)) }.joined(separator: "/")
        }

        /// Whether a segment begins with a point, as dot segments do; nearly no path has one.
        private static func hasDotSegment(_ path: String) -> Bool {
            var previous = ASCII.slash
            for byte in path.utf8 {
                if byte == ASCII.point, previous == ASCII.slash { return true }
                previous = byte
            }
            return false
        }

        private static func isSchemeByte(_ byte: UInt8) -> Bool {
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.plus || byte == ASCII.minus
                || byte == ASCII.point
        }
    }
}
