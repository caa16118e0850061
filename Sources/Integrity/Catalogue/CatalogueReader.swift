public import CoreModel

/// Reads a catalogue piece by piece: first the index, then the pages that are wanted, each checked on its own.
///
/// Fetch ``requiredRange`` and ``feed(_:now:)`` what comes until it is `nil`; then ``renditions`` are known, and
/// ``pageRange(for:)`` says what to fetch for a segment. What came beyond the index, from a server that does not do ranges
/// or because the file is small, is taken with ``takePages()``.
public struct CatalogueReader: Sendable {
    /// The bytes that the first request asks for: enough for the whole index of most titles and the first page of small
    /// ones.
    public static let firstRequestByteCount = 32 * 1024

    private let keys: [KeyID: VerificationKey]
    private let trusted: [VerificationKey]
    private let threshold: Int
    private let expectedStream: StreamID?
    private let suite: any CryptoSuite

    private var state: State = .head
    /// What has come and is not used up: from ``bufferStart`` on.
    private var buffer: [UInt8] = []
    private var bufferStart = 0

    private enum State {
        case head
        case index(CatalogueHead, headByteCount: Int)
        case ready(Index)
    }

    private struct Index {
        var head: CatalogueHead
        var policy: AuthorityPolicy
        var renditions: [CatalogueRendition]
        var directory: CatalogueDirectory
        /// Where the first page begins in the file.
        var byteCount: Int
        /// The first page that ``takePages()`` has not handed out.
        var nextPage: Int
    }

    /// Waits for the start of a catalogue.
    ///
    /// - Parameters:
    ///   - trusted: The authorities' public keys that are pinned.
    ///   - threshold: How many of them must have signed.
    ///   - stream: The stream that is played; `nil` when the catalogue decides.
    public init(
        trusting trusted: [VerificationKey], threshold: Int = 1, stream: StreamID? = nil, suite: any CryptoSuite
    ) {
        self.trusted = trusted
        self.threshold = max(1, threshold)
        self.expectedStream = stream
        self.suite = suite
        keys = Dictionary(
            trusted.map { (KeyID(of: $0, suite: suite), $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: The index

    /// The bytes of the file that are needed next for the index; `nil` once it is known.
    ///
    /// The first range may reach beyond the end of a small file.
    public var requiredRange: Range<UInt64>? {
        let end: Int
        switch state {
        case .head: end = max(Self.firstRequestByteCount, receivedByteCount + 4096)
        case .index(let head, let headByteCount):
            end = headByteCount + head.tableByteCount + head.directoryByteCount
        case .ready: return nil
        }
        return UInt64(receivedByteCount)..<UInt64(end)
    }

    /// How many bytes of the file, from its start, have been fed.
    public var receivedByteCount: Int { bufferStart + buffer.count }

    /// Takes the next bytes of the file, in order from its start.
    public mutating func feed(_ bytes: ArraySlice<UInt8>, now: UnixTime) throws(CatalogueError) {
        buffer.append(contentsOf: bytes)
        if case .head = state { try readHead(now: now) }
        if case .index(let head, let headByteCount) = state { try readIndex(head, headByteCount) }
    }

    /// Says that the file has ended.
    ///
    /// - Throws: ``CatalogueError/truncated`` when the index is not complete.
    public func finish() throws(CatalogueError) {
        guard case .ready = state else { throw buffer.isEmpty ? .notACatalogue : .truncated }
    }

    /// The head, once the index is known and verified.
    public var head: CatalogueHead? {
        guard case .ready(let index) = state else { return nil }
        return index.head
    }

    /// The policy for single records of the stream, once the index is known.
    public var policy: AuthorityPolicy? {
        guard case .ready(let index) = state else { return nil }
        return index.policy
    }

    /// The renditions that have records; empty until the index is known.
    public var renditions: [CatalogueRendition] {
        guard case .ready(let index) = state else { return [] }
        return index.renditions
    }

    /// The keys of a viewer's renditions, in their order; `nil` for those that the authority did not sign or that can't be
    /// told apart.
    public func keys(for descriptions: [RenditionDescription]) -> [RenditionKey?] {
        let table = Dictionary(renditions.map { ($0.line, $0.key) }, uniquingKeysWith: { first, _ in first })
        return RenditionKeys.canonicalLines(descriptions).map { $0.flatMap { table[$0] } }
    }

    // MARK: Pages

    /// How many pages there are; 0 until the index is known.
    public var pageCount: Int { head?.pageCount ?? 0 }

    /// The page that holds a segment's record if there is one; `nil` when there is none.
    public func page(holding name: SegmentName) -> Int? {
        guard case .ready(let index) = state, name.stream == index.head.stream, name.epoch == index.head.epoch
        else { return nil }
        return index.directory.page(holding: name)
    }

    /// Where a page lies in the file.
    ///
    /// - Precondition: the page is below ``pageCount``.
    public func byteRange(ofPage page: Int) -> Range<UInt64> {
        guard case .ready(let index) = state, index.directory.entries.indices.contains(page) else {
            preconditionFailure("page \(page) of \(pageCount)")
        }
        let start = UInt64(index.byteCount)
        return start + index.directory.offsets[page]..<start + index.directory.offsets[page + 1]
    }

    /// Where the page of a segment's record lies in the file; `nil` when there is none.
    public func pageRange(for name: SegmentName) -> Range<UInt64>? { page(holding: name).map(byteRange(ofPage:)) }

    /// Checks a page and reads its records.
    ///
    /// Their own signatures are not checked again: the signed root vouches for every byte of them.
    public func accept(page: Int, _ bytes: ArraySlice<UInt8>) throws(CatalogueError) -> [VerifiedSegment] {
        guard case .ready(let index) = state, index.directory.entries.indices.contains(page) else {
            throw .wrongPage(page)
        }
        return try Self.read(page, bytes, index, suite: suite)
    }

    /// The segments of the pages that came behind the index, each page once; what is incomplete waits for more.
    public mutating func takePages() throws(CatalogueError) -> [VerifiedSegment] {
        guard case .ready(var index) = state else { return [] }
        var segments: [VerifiedSegment] = []
        var position = 0
        while index.nextPage < index.directory.entries.count {
            let count = index.directory.entries[index.nextPage].byteCount
            guard buffer.count - position >= count else { break }
            segments += try Self.read(index.nextPage, buffer[position..<position + count], index, suite: suite)
            position += count
            index.nextPage += 1
        }
        buffer.removeFirst(position)
        bufferStart += position
        // Bytes behind the last page mean nothing.
        if index.nextPage == index.directory.entries.count { buffer = [] }
        state = .ready(index)
        return segments
    }

    // MARK: Helpers

    private mutating func readHead(now: UnixTime) throws(CatalogueError) {
        var reader = WireReader(buffer)
        let head: CatalogueHead
        do {
            head = try CatalogueHead(from: &reader)
        } catch {
            switch error {
            case .truncated:
                let start = buffer.prefix(CatalogueHead.magic.count)
                guard start.elementsEqual(CatalogueHead.magic.prefix(start.count)) else { throw .notACatalogue }
                return
            case .invalid(field: "magic"): throw .notACatalogue
            case .invalid(field: "version"): throw .unsupportedVersion
            case .invalid, .trailing, .tooLarge: throw .malformed(error)
            }
        }
        let headByteCount = buffer.count - reader.remaining
        let indexByteCount = headByteCount + head.tableByteCount + head.directoryByteCount
        guard indexByteCount <= CatalogueHead.maximumIndexByteCount else {
            throw .indexTooLarge(byteCount: indexByteCount)
        }
        try head.verify(trusting: keys, threshold: threshold, now: now, suite: suite)
        if let expectedStream, expectedStream != head.stream { throw .foreignStream(head.stream) }
        state = .index(head, headByteCount: headByteCount)
    }

    private mutating func readIndex(_ head: CatalogueHead, _ headByteCount: Int) throws(CatalogueError) {
        let end = headByteCount + head.tableByteCount + head.directoryByteCount
        guard buffer.count >= end else { return }
        let bytes = buffer[headByteCount..<end]
        guard suite.sha256(bytes.span.bytes) == head.indexDigest else { throw .wrongIndex }
        let renditions: [CatalogueRendition]
        let directory: CatalogueDirectory
        do {
            var table = WireReader(bytes.prefix(head.tableByteCount))
            renditions = try CatalogueTable.read(from: &table)
            try table.finish()
            var reader = WireReader(bytes.dropFirst(head.tableByteCount))
            directory = try CatalogueDirectory(from: &reader, pageCount: head.pageCount)
            try reader.finish()
        } catch {
            throw .malformed(error)
        }
        guard RecordTree.root(directory.entries.map(\.digest)[...], suite: suite) == head.root else {
            throw .wrongIndex
        }
        let policy = AuthorityPolicy(stream: head.stream, keys: trusted, threshold: threshold, suite: suite)
        buffer.removeFirst(end)
        bufferStart = end
        state = .ready(
            Index(
                head: head, policy: policy, renditions: renditions, directory: directory, byteCount: end, nextPage: 0))
    }

    private static func read(
        _ page: Int, _ bytes: ArraySlice<UInt8>, _ index: Index, suite: some CryptoSuite
    ) throws(CatalogueError) -> [VerifiedSegment] {
        let entry = index.directory.entries[page]
        guard bytes.count == entry.byteCount else { throw .wrongPage(page) }
        let first = page * index.head.pageRecordCount
        let count = min(index.head.pageRecordCount, index.head.recordCount - first)
        var reader = WireReader(bytes)
        var leaves: [Digest] = []
        var segments: [SignedSegment] = []
        do {
            for _ in 0..<count {
                let start = bytes.endIndex - reader.remaining
                segments.append(try SignedSegment(from: &reader))
                let record = bytes[start..<bytes.endIndex - reader.remaining]
                leaves.append(RecordTree.leaf(Array(record), suite: suite))
            }
            try reader.finish()
        } catch {
            throw .wrongPage(page)
        }
        guard RecordTree.root(leaves[...], suite: suite) == entry.digest else { throw .wrongPage(page) }
        // Signed by the authority from here on: what is wrong now is its own mistake, and refused all the same.
        var last: SegmentName?
        for segment in segments {
            let name = segment.name
            guard name.stream == index.head.stream, name.epoch == index.head.epoch, last.map({ $0 < name }) ?? true,
                segment.hasMatchingLayer(suite: suite)
            else { throw .wrongPage(page) }
            last = name
        }
        guard let firstName = segments.first?.name, (firstName.rendition, firstName.position) == entry.order else {
            throw .wrongPage(page)
        }
        return segments.map { VerifiedSegment($0) }
    }
}
