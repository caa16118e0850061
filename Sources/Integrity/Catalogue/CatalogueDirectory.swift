internal import CoreModel

/// Where a catalogue's pages are and what they hash to.
struct CatalogueDirectory: Sendable {
    /// One page.
    struct Entry: Sendable {
        var rendition: RenditionKey
        var position: SegmentPosition
        var byteCount: Int
        var digest: Digest

        /// The place of a page's first record in the order of records: stream and epoch are the same in all.
        var order: (RenditionKey, SegmentPosition) { (rendition, position) }
    }

    /// The bytes of an entry.
    static let entryByteCount = 71
    /// The most bytes of a page.
    static let maximumPageByteCount = 4 << 20

    let entries: [Entry]
    /// Where each page begins, counted from the first, and where the last ends.
    let offsets: [UInt64]

    init(_ entries: [Entry]) {
        self.entries = entries
        var offsets: [UInt64] = [0]
        for entry in entries { offsets.append(offsets[offsets.count - 1] + UInt64(entry.byteCount)) }
        self.offsets = offsets
    }

    func encode(into writer: inout WireWriter) {
        for entry in entries {
            writer.integer(entry.rendition.rawValue)
            writer.append(entry.position)
            writer.integer(UInt32(entry.byteCount))
            writer.append(entry.digest)
        }
    }

    init(from reader: inout WireReader, pageCount: Int) throws(WireError) {
        var entries: [Entry] = []
        entries.reserveCapacity(pageCount)
        for _ in 0..<pageCount {
            let entry = Entry(
                rendition: RenditionKey(rawValue: try reader.integer()), position: try reader.segmentPosition(),
                byteCount: Int(try reader.integer(UInt32.self)), digest: try reader.digest())
            guard entry.byteCount > 0, entry.byteCount <= Self.maximumPageByteCount else {
                throw .tooLarge(field: "page", value: entry.byteCount, limit: Self.maximumPageByteCount)
            }
            if let last = entries.last, last.order >= entry.order { throw .invalid(field: "page order") }
            entries.append(entry)
        }
        self.init(entries)
    }

    /// The only page that can hold a name; `nil` when the name comes before the first.
    func page(holding name: SegmentName) -> Int? {
        let order = (name.rendition, name.position)
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if entries[middle].order <= order {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound > 0 ? range.lowerBound - 1 : nil
    }
}
