import CoreModel
import Cryptography
import Delivery
import Integrity
import Manifest

/// A short HLS title of numbered bytes, and its catalogue. A clock plays it; nothing decodes it.
struct TestTitle {
    static let suite = SystemCryptoSuite()
    static let manifestPath = "/t/index.m3u8"
    static let cataloguePath = "/t/index.m3u8.pdn"

    let streamName = "test"
    let authority: RoleKey
    let segments: [[UInt8]]
    let segmentDuration: Int
    /// Whether the manifest is DASH and names two places for each segment, `a` and `b`.
    let hasTwoHosts: Bool

    /// - Parameter segmentDuration: In milliseconds.
    init(
        segmentCount: Int = 4, segmentDuration: Int = 1000, byteCount: Int = 200_000, hasTwoHosts: Bool = false
    ) {
        self.hasTwoHosts = hasTwoHosts
        authority = Self.key(1)
        self.segmentDuration = segmentDuration
        segments = (0..<segmentCount).map { number in
            var generator = SeededGenerator(seed: UInt64(number + 1))
            let words = (0..<(byteCount + number * 1000) / 8).map { _ in generator.next() }
            return words.withUnsafeBytes { Array($0) }
        }
    }

    static func key(_ number: UInt64) -> RoleKey {
        RoleKey(role: .authority, key: suite.signingKey(seed: Bytes32(words: (number, 0, 0, 2))), suite: suite)
    }

    static func path(_ segment: Int) -> String { "/t/\(segment).ts" }

    /// The path of a segment at the second place.
    static func otherPath(_ segment: Int) -> String { "/t/b/\(segment).ts" }
    /// The path of a segment at the first of two places.
    static func firstPath(_ segment: Int) -> String { "/t/a/\(segment).ts" }

    private var playlist: String {
        guard !hasTwoHosts else {
            return """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-main:2011" \
                minBufferTime="PT1S" mediaPresentationDuration="PT\(segments.count * segmentDuration / 1000)S">
                <BaseURL>a/</BaseURL><BaseURL>b/</BaseURL><Period id="1"><AdaptationSet mimeType="video/mp4">
                <SegmentTemplate media="$Number$.ts" startNumber="0" timescale="1000" duration="\(segmentDuration)"/>
                <Representation id="v" bandwidth="1600000" codecs="avc1.64001f" width="640" height="360"/>
                </AdaptationSet></Period></MPD>
                """
        }
        let seconds = "\(segmentDuration / 1000).\(String(segmentDuration % 1000 + 1000).dropFirst())"
        let list = segments.indices.map { "#EXTINF:\(seconds),\n\($0).ts" }.joined(separator: "\n")
        return "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(segmentDuration / 1000 + 1)\n"
            + "#EXT-X-PLAYLIST-TYPE:VOD\n\(list)\n#EXT-X-ENDLIST\n"
    }

    /// The manifest and its segments, without a catalogue.
    var files: [String: TestOrigin.File] {
        var files = [Self.manifestPath: TestOrigin.File(bytes: Array(playlist.utf8))]
        for (index, bytes) in segments.enumerated() {
            let paths = hasTwoHosts ? [Self.firstPath(index), Self.otherPath(index)] : [Self.path(index)]
            for path in paths { files[path] = TestOrigin.File(bytes: bytes) }
        }
        return files
    }

    /// The catalogue of the segments as they are here.
    ///
    /// - Parameters:
    ///   - name: The stream that it is for.
    ///   - key: What signs it, in place of the title's authority.
    func catalogue(stream name: String? = nil, signedBy key: RoleKey? = nil, now: UnixTime) throws -> [UInt8] {
        let suite = Self.suite
        let key = key ?? authority
        let stream = StreamIdentity.stream(named: name ?? streamName, suite: suite)
        let presentation = try Presentation.parse(Array(playlist.utf8), url: "http://127.0.0.1\(Self.manifestPath)")
        let descriptions = presentation.descriptions
        var renditions: [CatalogueRendition] = []
        var signed: [SignedSegment] = []
        let expires = now + .seconds(3600)
        for ((rendition, line), assigned) in zip(
            zip(presentation.renditions, RenditionKeys.canonicalLines(descriptions)),
            RenditionKeys.assign(descriptions, suite: suite))
        {
            guard let line, let assigned, let timeline = rendition.timeline else { continue }
            renditions.append(CatalogueRendition(key: assigned, line: line))
            for (index, segment) in timeline.segments.enumerated() {
                var hasher = MerkleHasher(suite: suite)
                guard hasher.update(segments[index][...]), let tree = hasher.finish() else { continue }
                let statement = RecordStatement(
                    name: SegmentName(stream: stream, rendition: assigned, position: segment.position),
                    duration: segment.duration, geometry: tree.geometry, root: tree.root)
                let record = SegmentRecord(signing: statement, with: key, issued: now, expires: expires)
                if let segment = SignedSegment(record: record, stripeLayer: tree.stripeLayer) { signed.append(segment) }
            }
        }
        return try CatalogueWriter(
            stream: stream, title: "Test", renditions: renditions, issued: now, expires: expires
        ).file(of: signed, signedBy: [key], suite: suite)
    }

    /// A segment with its record, apart from any manifest.
    func verified(_ index: Int, now: UnixTime) throws -> VerifiedSegment {
        let suite = Self.suite
        var hasher = MerkleHasher(suite: suite)
        guard hasher.update(segments[index][...]), let tree = hasher.finish() else { throw StageError.noTree }
        let stream = StreamIdentity.stream(named: streamName, suite: suite)
        let statement = RecordStatement(
            name: SegmentName(
                stream: stream, rendition: RenditionKey(rawValue: 1), position: SegmentPosition(number: UInt64(index))),
            duration: MediaTime(ticks: 1, timescale: 1), geometry: tree.geometry, root: tree.root)
        let record = SegmentRecord(signing: statement, with: authority, issued: now, expires: now + .seconds(3600))
        guard let signed = SignedSegment(record: record, stripeLayer: tree.stripeLayer) else { throw StageError.noTree }
        return try AuthorityPolicy(stream: stream, keys: [authority.verificationKey], suite: suite)
            .verify(signed, now: now, suite: suite)
    }
}
