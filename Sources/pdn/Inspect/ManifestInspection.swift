import CommandLineSupport
import CoreModel
import Manifest

/// Manifests as JSON documents and as trees for people.
enum ManifestInspection {
    /// A manifest as one JSON document.
    static func json(_ document: ManifestDocument) throws(ManifestError) -> JSONValue {
        switch document {
        case .hls(.multivariant(let playlist)): json(playlist)
        case .hls(.media(let playlist)): json(playlist)
        case .dash(let manifest): try json(manifest)
        }
    }

    /// Collects the members of an object, in order.
    struct Members {
        private(set) var list: [(name: String, value: JSONValue)] = []

        /// Sets a member.
        mutating func set(_ name: String, _ value: JSONValue) { list.append((name, value)) }

        /// Sets a member if there is something to say.
        mutating func set(_ name: String, ifPresent value: JSONValue?) {
            if let value { list.append((name, value)) }
        }

        /// Sets a member if the list holds something.
        mutating func set(_ name: String, unlessEmpty values: [JSONValue]) {
            if !values.isEmpty { list.append((name, .array(values))) }
        }

        var object: JSONValue { .object(list) }
    }

    /// The first three and the last three of `count` things; none of the last where there are three or fewer.
    static func ends(_ count: Int) -> (first: Range<Int>, last: Range<Int>) {
        (0..<min(3, count), count > 3 ? (count - 3)..<count : count..<count)
    }

    /// A byte range with both ends inclusive, or null.
    static func json(inclusive range: Range<UInt64>?) -> JSONValue {
        guard let range, !range.isEmpty else { return nil }
        return [JSONValue(range.lowerBound), JSONValue(range.upperBound - 1)]
    }
}

extension JSONValue {
    /// A whole number; one above 63 bits as a number that isn't exact.
    init(_ value: UInt64) { self = Int(exactly: value).map { .integer($0) } ?? .number(Double(value)) }

    /// A whole number, or null when there is none.
    init(_ value: UInt64?) { self = value.map { JSONValue($0) } ?? .null }

    /// Seconds.
    init(_ time: MediaTime) {
        self = time.timescale == 1 ? .integer(Int(time.ticks)) : .number(time.seconds)
    }

    /// Seconds, or null when there are none.
    init(_ time: MediaTime?) { self = time.map { JSONValue($0) } ?? .null }
}
