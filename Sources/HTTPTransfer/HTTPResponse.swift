/// The head of a final answer, redirects followed.
public struct HTTPResponse: Sendable {
    /// The range that a 206 answer carries (Content-Range, RFC 9110, section 14.4).
    public struct ContentRange: Hashable, Sendable {
        /// The first byte's offset.
        public var first: UInt64
        /// The last byte's offset.
        public var last: UInt64
        /// The resource's size; `nil` when the server doesn't say.
        public var total: UInt64?

        /// Reads `bytes first-last/total`; `nil` for anything else.
        public init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
            let halves = parts[1].split(separator: "/")
            guard halves.count == 2 else { return nil }
            let ends = halves[0].split(separator: "-")
            guard ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last else {
                return nil
            }
            self.first = first
            self.last = last
            self.total = UInt64(halves[1])
            if let total, total <= last { return nil }
        }
    }

    /// The status code.
    public var status: Int
    /// Header fields in order, names in lower case.
    public var headers: [(name: String, value: String)]
    /// Where the answer came from after redirects.
    public var finalURL: String

    /// A field's value; the first of several. `name` in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body's size as announced; `nil` when it isn't.
    public var contentLength: Int? { header("content-length").flatMap { Int($0) } }

    /// The range of a 206 answer.
    public var contentRange: ContentRange? { header("content-range").flatMap(ContentRange.init) }

    /// The entity tag, with its quotes.
    public var entityTag: String? { header("etag") }
}
