import CoreModel
import Integrity
import Testing

struct CatalogueTests {
    private static let renditions = (1...3 as ClosedRange<UInt64>).map {
        CatalogueRendition(key: RenditionKey(rawValue: $0), line: "format=hls;kind=video;height=\($0)")
    }

    /// Segments of three renditions.
    private static func segments(_ count: Int) -> [SignedSegment] {
        (0..<count).map { index in
            Fixtures.signed(
                Fixtures.bytes(100 + index),
                name: Fixtures.name(UInt64(index / 3), rendition: UInt64(1 + index % 3)))
        }
    }

    private func writer() -> CatalogueWriter {
        CatalogueWriter(
            stream: Fixtures.stream, title: "A title", renditions: Self.renditions,
            issued: Fixtures.now, expires: Fixtures.now + .seconds(86400))
    }

    private func file(_ count: Int) throws -> [UInt8] {
        try writer().file(of: Self.segments(count), signedBy: [Fixtures.authority], suite: suite)
    }

    private func reader(
        trusting keys: [RoleKey] = [Fixtures.authority], threshold: Int = 1, stream: StreamID? = nil
    ) -> CatalogueReader {
        CatalogueReader(
            trusting: keys.map(\.verificationKey), threshold: threshold, stream: stream, suite: suite)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 63, 64, 65, 200])
    func `Every record of a file is found by range`(count: Int) throws {
        let file = try file(count)
        var reader = reader(stream: Fixtures.stream)
        while let range = reader.requiredRange {
            let available = Int(range.lowerBound)..<min(file.count, Int(range.upperBound))
            try reader.feed(file[available], now: Fixtures.now)
            if available.upperBound == file.count { try reader.finish() }
        }
        #expect(reader.renditions == Self.renditions)
        for segment in Self.segments(count) {
            let page = try #require(reader.page(holding: segment.name))
            let range = reader.byteRange(ofPage: page)
            #expect(reader.pageRange(for: segment.name) == range)
            let records = try reader.accept(page: page, file[Int(range.lowerBound)..<Int(range.upperBound)])
            #expect(records.contains { $0.signed == segment })
        }
        let last = reader.byteRange(ofPage: reader.pageCount - 1)
        #expect(Int(last.upperBound) == file.count)
        #expect(reader.page(holding: Fixtures.name(0, rendition: 0)) == nil)
        #expect(reader.page(holding: Fixtures.name(0, rendition: 1, epoch: 1)) == nil)
    }

    @Test(arguments: [1, 100, 5000, 1_000_000])
    func `Any split of the file gives the same records`(piece: Int) throws {
        let file = try file(200)
        var reader = reader()
        var rest = file[...]
        var records: [VerifiedSegment] = []
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            try reader.feed(part, now: Fixtures.now)
            records += try reader.takePages()
            rest = rest.dropFirst(part.count)
        }
        #expect(records.map(\.signed) == Self.segments(200).sorted { $0.name < $1.name })
        #expect(try reader.takePages().isEmpty)
    }

    @Test func `The index of a long title stays within its limit`() throws {
        // Two hours of 4 s segments in seven renditions, HLS and DASH, are 25,200 records; one tree serves them all here.
        let template = Fixtures.signed(Fixtures.bytes(100))
        let segments = (0..<25_200).map { index in
            let statement = RecordStatement(
                name: Fixtures.name(UInt64(index / 3), rendition: UInt64(1 + index % 3)),
                duration: template.statement.duration, geometry: template.statement.geometry,
                root: template.statement.root)
            // The head vouches for the records; their own signatures don't matter here.
            let record = SegmentRecord(statement: statement, signatures: template.record.signatures)!
            return SignedSegment(record: record, stripeLayer: template.stripeLayer)!
        }
        let file = try writer().file(of: segments, signedBy: [Fixtures.authority], suite: suite)
        var reader = reader()
        var requests = 0
        while let range = reader.requiredRange {
            try reader.feed(
                file[Int(range.lowerBound)..<min(file.count, Int(range.upperBound))], now: Fixtures.now)
            requests += 1
        }
        #expect(requests <= 2)
        #expect(reader.byteRange(ofPage: 0).lowerBound <= 65536)
        #expect(reader.byteRange(ofPage: 0).upperBound <= 65536, "index and first page")
    }

    @Test func `A file cut anywhere is truncated, never wrong`() throws {
        let file = try file(20)
        for count in 0..<file.count where count < 700 || count % 5 == 0 {
            var reader = reader()
            try reader.feed(file[..<count], now: Fixtures.now)
            let records = try reader.takePages()
            #expect(records.count < 20)
            if reader.head == nil {
                #expect(throws: count == 0 ? CatalogueError.notACatalogue : .truncated) { try reader.finish() }
            }
        }
    }

    @Test func `Any altered byte is refused`() throws {
        let file = try file(20)
        // All of head and index; of the pages every third byte, for time.
        for index in file.indices where index < 700 || index % 3 == 0 {
            var altered = file
            altered[index] ^= 0x41
            #expect(throws: CatalogueError.self, "byte \(index)") {
                var reader = reader()
                try reader.feed(altered[...], now: Fixtures.now)
                try reader.finish()
                _ = try reader.takePages()
            }
        }
    }

    @Test func `The error tells what is wrong`() throws {
        let file = try file(20)
        func error(_ bytes: [UInt8], _ reader: CatalogueReader, at offset: Int = 0) -> CatalogueError? {
            var reader = reader
            do throws(CatalogueError) {
                try reader.feed(bytes[...], now: Fixtures.now + .seconds(offset))
                try reader.finish()
                return nil
            } catch { return error }
        }
        #expect(error(file, reader()) == nil)
        #expect(error(Array("<html>".utf8), reader()) == .notACatalogue)
        #expect(error([UInt8](repeating: 0, count: 5000), reader()) == .notACatalogue)
        var later = file
        later[8] = 2
        #expect(error(later, reader()) == .unsupportedVersion)
        #expect(error(file, reader(trusting: [Fixtures.key(.authority, 9)])) == .foreignAuthority)
        #expect(error(file, reader(trusting: [])) == .foreignAuthority)
        #expect(
            error(file, reader(trusting: [Fixtures.authority, Fixtures.key(.authority, 9)], threshold: 2))
                == .tooFewSignatures(agreeing: 1, required: 2))
        let other = StreamIdentity.stream(named: "other", suite: suite)
        #expect(error(file, reader(stream: other)) == .foreignStream(Fixtures.stream))
        #expect(error(file, reader(), at: -61) == .expired)
        #expect(error(file, reader(), at: 86461) == .expired)
        var forged = file
        forged[9] ^= 1
        #expect(error(forged, reader()) == .invalidSignature(Fixtures.authority.id))
        #expect(error(Array(file[..<300]), reader()) == .truncated)
    }

    @Test func `A page is only accepted in its place`() throws {
        let file = try file(200)
        var reader = reader()
        try reader.feed(file[...], now: Fixtures.now)
        #expect(reader.pageCount > 2)
        let first = reader.byteRange(ofPage: 0)
        let bytes = file[Int(first.lowerBound)..<Int(first.upperBound)]
        #expect(try !reader.accept(page: 0, bytes).isEmpty)
        #expect(throws: CatalogueError.wrongPage(1)) { try reader.accept(page: 1, bytes) }
        #expect(throws: CatalogueError.wrongPage(0)) { try reader.accept(page: 0, bytes.dropLast()) }
        #expect(throws: CatalogueError.wrongPage(999)) { try reader.accept(page: 999, bytes) }
        #expect(throws: CatalogueError.wrongPage(-1)) { try reader.accept(page: -1, bytes) }
    }

    @Test func `Two authorities can sign one head`() throws {
        let keys = [Fixtures.authority, Fixtures.key(.authority, 9)]
        let file = try writer().file(of: Self.segments(3), signedBy: keys, suite: suite)
        var reader = reader(trusting: keys, threshold: 2)
        try reader.feed(file[...], now: Fixtures.now)
        #expect(reader.head != nil)
    }

    @Test func `The writer refuses what would be ambiguous`() throws {
        let segments = Self.segments(3)
        func error(_ segments: [SignedSegment], _ writer: CatalogueWriter) -> CatalogueWriterError? {
            do throws(CatalogueWriterError) {
                _ = try writer.file(of: segments, signedBy: [Fixtures.authority], suite: suite)
                return nil
            } catch { return error }
        }
        #expect(error([], writer()) == .empty)
        #expect(error(segments + [segments[1]], writer()) == .duplicate(segments[1].name))
        var changed = writer()
        changed.epoch = 1
        #expect(error(segments, changed) == .foreignSegment(segments[0].name))
        changed = writer()
        changed.renditions.append(changed.renditions[0])
        #expect(error(segments, changed) == .ambiguousRendition(changed.renditions[0].key))
        changed = writer()
        changed.title = String(repeating: "x", count: 1025)
        #expect(error(segments, changed) == .tooLarge)
    }

    @Test func `Viewers find the keys of their renditions by description`() throws {
        let descriptions = [
            RenditionDescription(format: .hls, kind: .video, height: 720),
            RenditionDescription(format: .dash, kind: .video, height: 720),
            RenditionDescription(format: .hls, kind: .audio),
        ]
        let keys = RenditionKeys.assign(descriptions, suite: suite)
        let key = try #require(keys[1])
        let writer = CatalogueWriter(
            stream: Fixtures.stream, title: "",
            renditions: [CatalogueRendition(key: key, line: descriptions[1].canonical(includingPath: false))],
            issued: Fixtures.now, expires: Fixtures.now)
        let segment = Fixtures.signed([1], name: Fixtures.name(1, rendition: key.rawValue))
        var reader = reader()
        try reader.feed(
            writer.file(of: [segment], signedBy: [Fixtures.authority], suite: suite)[...], now: Fixtures.now)
        #expect(reader.keys(for: descriptions) == [nil, key, nil])
    }
}
