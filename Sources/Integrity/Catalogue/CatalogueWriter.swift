public import CoreModel

/// Makes a catalogue file.
public struct CatalogueWriter: Sendable {
    /// The stream that every record is for.
    public var stream: StreamID
    /// The epoch that every record is of.
    public var epoch: UInt32
    /// The title, for people.
    public var title: String
    /// The renditions that the records are of.
    public var renditions: [CatalogueRendition]
    /// When it is signed.
    public var issued: UnixTime
    /// When it stops counting.
    public var expires: UnixTime

    /// Describes a catalogue.
    public init(
        stream: StreamID, epoch: UInt32 = 0, title: String, renditions: [CatalogueRendition], issued: UnixTime,
        expires: UnixTime
    ) {
        self.stream = stream
        self.epoch = epoch
        self.title = title
        self.renditions = renditions
        self.issued = issued
        self.expires = expires
    }

    /// The file's bytes.
    ///
    /// The page size is the one that makes index and largest page together the smallest: what a viewer fetches before the
    /// first peer can be used.
    ///
    /// - Parameters:
    ///   - segments: The records with their layers, in any order.
    ///   - keys: The authorities that sign the head, 1 to 8.
    /// - Complexity: O(*n* log *n*) in the segments.
    public func file(
        of segments: [SignedSegment], signedBy keys: [RoleKey], suite: some CryptoSuite
    ) throws(CatalogueWriterError) -> [UInt8] {
        let segments = segments.sorted { $0.name < $1.name }
        let renditions = renditions.sorted { $0.key < $1.key }
        try check(segments, renditions, keys)
        let records = segments.map(\.encoded)
        let leaves = records.map { RecordTree.leaf($0, suite: suite) }

        var table = WireWriter()
        CatalogueTable.encode(renditions, into: &table)
        let headByteCount = 122 + title.utf8.count + 72 * keys.count
        guard let pageRecordCount = pageSize(records, reserved: headByteCount + table.bytes.count) else {
            throw .tooLarge
        }
        var entries: [CatalogueDirectory.Entry] = []
        for first in stride(from: 0, to: records.count, by: pageRecordCount) {
            let range = first..<min(first + pageRecordCount, records.count)
            entries.append(
                CatalogueDirectory.Entry(
                    rendition: segments[first].name.rendition, position: segments[first].name.position,
                    byteCount: records[range].reduce(0) { $0 + $1.count },
                    digest: RecordTree.root(leaves[range], suite: suite)))
        }
        var index = table
        CatalogueDirectory(entries).encode(into: &index)
        var head = CatalogueHead(
            stream: stream, epoch: epoch, title: title, issued: issued, expires: expires, recordCount: records.count,
            pageRecordCount: pageRecordCount, tableByteCount: table.bytes.count,
            indexDigest: suite.sha256(index.bytes.span.bytes), root: RecordTree.root(leaves[...], suite: suite))
        for key in keys { head.sign(with: key) }
        return head.encoded + index.bytes + records.joined()
    }

    private func check(
        _ segments: [SignedSegment], _ renditions: [CatalogueRendition], _ keys: [RoleKey]
    ) throws(CatalogueWriterError) {
        guard !segments.isEmpty else { throw .empty }
        guard segments.count <= CatalogueHead.maximumRecordCount, renditions.count <= CatalogueTable.maximumCount,
            (1...CatalogueHead.maximumSealCount).contains(Set(keys.map(\.id)).count), !keys.isEmpty,
            Set(keys.map(\.id)).count == keys.count,
            title.utf8.count <= CatalogueHead.maximumTitleByteCount,
            renditions.allSatisfy({ $0.line.utf8.count <= CatalogueTable.maximumLineByteCount })
        else { throw .tooLarge }
        for (first, second) in zip(renditions, renditions.dropFirst()) where first.key == second.key {
            throw .ambiguousRendition(first.key)
        }
        let known = Set(renditions.map(\.key))
        for segment in segments {
            guard segment.name.stream == stream, segment.name.epoch == epoch, known.contains(segment.name.rendition)
            else { throw .foreignSegment(segment.name) }
        }
        for (first, second) in zip(segments, segments.dropFirst()) where first.name == second.name {
            throw .duplicate(first.name)
        }
    }

    private func pageSize(_ records: [[UInt8]], reserved: Int) -> Int? {
        let candidates = CatalogueHead.pageRecordCounts.compactMap { size -> (size: Int, cost: Int)? in
            let pageCount = (records.count + size - 1) / size
            let index = reserved + pageCount * CatalogueDirectory.entryByteCount
            let largest = stride(from: 0, to: records.count, by: size).reduce(0) { largest, first in
                max(largest, records[first..<min(first + size, records.count)].reduce(0) { $0 + $1.count })
            }
            guard index <= CatalogueHead.maximumIndexByteCount, largest <= CatalogueDirectory.maximumPageByteCount
            else { return nil }
            return (size, index + largest)
        }
        return candidates.min { ($0.cost, $0.size) < ($1.cost, $1.size) }?.size
    }
}

/// Why a catalogue can't be made.
public enum CatalogueWriterError: Error, Equatable, Sendable {
    /// There are no segments.
    case empty
    /// There are more segments, renditions, keys or characters in the title than the format holds.
    case tooLarge
    /// Two renditions have one key.
    case ambiguousRendition(RenditionKey)
    /// A segment is of another stream or epoch, or of a rendition that is not in the table.
    case foreignSegment(SegmentName)
    /// Two segments have one name.
    case duplicate(SegmentName)
}
