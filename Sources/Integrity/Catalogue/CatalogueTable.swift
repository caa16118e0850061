internal import CoreModel

/// The rendition table's bytes.
enum CatalogueTable {
    /// The most renditions of a title.
    static let maximumCount = 1024
    /// The most bytes of a canonical line.
    static let maximumLineByteCount = 4096

    static func encode(_ renditions: [CatalogueRendition], into writer: inout WireWriter) {
        writer.integer(UInt16(renditions.count))
        for rendition in renditions {
            writer.integer(rendition.key.rawValue)
            writer.prefixed16(Array(rendition.line.utf8))
        }
    }

    static func read(from reader: inout WireReader) throws(WireError) -> [CatalogueRendition] {
        let count = Int(try reader.integer(UInt16.self))
        guard count <= maximumCount else { throw .tooLarge(field: "renditions", value: count, limit: maximumCount) }
        var renditions: [CatalogueRendition] = []
        for _ in 0..<count {
            let key = RenditionKey(rawValue: try reader.integer())
            let bytes = try reader.prefixed16("rendition", limit: maximumLineByteCount)
            guard let line = String(validating: bytes, as: UTF8.self) else { throw .invalid(field: "rendition") }
            if let last = renditions.last, last.key >= key { throw .invalid(field: "rendition order") }
            renditions.append(CatalogueRendition(key: key, line: line))
        }
        return renditions
    }
}
