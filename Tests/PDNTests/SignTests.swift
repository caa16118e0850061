import CommandLineSupport
import CoreModel
import Cryptography
import Delivery
import Foundation
import Integrity
import Manifest
import Testing

@testable import pdn

@Suite(.timeLimit(.minutes(5)))
struct SignTests {
    private let suite = SystemCryptoSuite()
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pdn-sign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func clean() { try? FileManager.default.removeItem(at: folder) }

    /// Makes a key file and returns the public key.
    private func makeKey(_ name: String, role: KeyRole = .authority) throws -> VerificationKey {
        let file = KeyFile(role: role, seed: SystemRandom.bytes32())
        try KeyStorage.write(file, to: path(name), replacing: false)
        return try file.key(for: role, suite: suite).verificationKey
    }

    /// Reads a whole catalogue.
    private func read(
        _ name: String, trusting keys: [VerificationKey], threshold: Int = 1
    ) throws -> (reader: CatalogueReader, records: [VerifiedSegment]) {
        var reader = CatalogueReader(
            trusting: keys, threshold: threshold, stream: StreamIdentity.stream(named: "title", suite: suite),
            suite: suite)
        try reader.feed(Array(Data(contentsOf: URL(fileURLWithPath: path(name))))[...], now: WallClock.now)
        return (reader, try reader.takePages())
    }

    private func sign(_ server: TestServer, _ manifests: [String], _ more: [String] = []) async -> ExitCode {
        await PDN.run(
            ["sign", "--key", path("key"), "--stream", "title", "--out", path("out.pdn")] + more
                + manifests.map { "\(server.url)/t/\($0)" })
    }

    private func rootOf(_ bytes: [UInt8]) -> Digest? {
        var hasher = MerkleHasher(suite: suite)
        return hasher.update(bytes[...]) ? hasher.finish()?.root : nil
    }

    @Test func `HLS and DASH of a title share roots, and each segment is downloaded once`() async throws {
        defer { clean() }
        let key = try makeKey("key")
        let server = try await TestServer(Title.files)
        #expect(await sign(server, ["master.m3u8", "manifest.mpd"], ["--jobs", "3"]) == .done)
        let media = server.requests.filter { $0.hasSuffix(".m4s") }
        #expect(Set(media).count == 12 && media.count == 12)

        let (reader, records) = try read("out.pdn", trusting: [key])
        #expect(reader.renditions.count == 4)
        #expect(records.count == 24)
        #expect(reader.head?.title == "title")
        let roots = Dictionary(grouping: records, by: \.root)
        #expect(roots.count == 12 && roots.values.allSatisfy { $0.count == 2 })
        for number in 0...Title.segmentCount {
            for bytes in [Title.video(number), Title.audio(number)] {
                let root = try #require(rootOf(bytes))
                let both = try #require(roots[root])
                #expect(both.allSatisfy { $0.geometry.byteCount == bytes.count })
                let kind: SegmentPosition.Kind = number == 0 ? .initialization : .media
                #expect(both.allSatisfy { $0.name.position.kind == kind })
                #expect(both.allSatisfy { $0.duration == MediaTime(seconds: number == 0 ? 0 : 4) })
                #expect(Set(both.map(\.name.rendition)).count == 2)
            }
        }
        // Each record holds on its own as well: peers get them without the catalogue.
        let policy = try #require(reader.policy)
        for record in records {
            #expect(throws: Never.self) { try policy.verify(record.signed, now: WallClock.now, suite: suite) }
        }
        #expect(!FileManager.default.fileExists(atPath: path("out.pdn.journal")))
    }

    @Test func `A viewer with other tokens, hosts and order finds the records`() async throws {
        defer { clean() }
        let key = try makeKey("key")
        let server = try await TestServer(Title.files)
        #expect(await sign(server, ["master.m3u8"]) == .done)
        let (reader, records) = try read("out.pdn", trusting: [key])

        let text = String(decoding: try #require(Title.files["/t/master.m3u8"]).bytes, as: UTF8.self)
            .replacingOccurrences(of: "x=1", with: "token=secret")
        var presentation = try Presentation.parse(
            Array(text.utf8), url: "https://other.example/token-123/t/master.m3u8?t=1")
        let keys = reader.keys(for: presentation.descriptions)
        #expect(!keys.contains(nil))
        for (rendition, key) in zip(presentation.renditions, keys) {
            let name = rendition.kind == .audio ? "/t/audio.m3u8" : "/t/video.m3u8"
            try presentation.load(
                rendition.id, bytes: try #require(Title.files[name]).bytes, finalURL: "https://other.example\(name)")
            let timeline = try #require(presentation.rendition(rendition.id)?.timeline)
            for segment in timeline.segments {
                let wanted = SegmentName(
                    stream: try #require(reader.head).stream, rendition: try #require(key), position: segment.position)
                #expect(records.contains { $0.name == wanted })
                #expect(reader.pageRange(for: wanted) != nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func `Byte ranges of one file, also from a server that does none`(doesRanges: Bool) async throws {
        defer { clean() }
        let key = try makeKey("key")
        let server = try await TestServer(Title.files)
        server.change("/t/all.mp4") { $0.doesRanges = doesRanges }
        #expect(await sign(server, ["ranges.m3u8"]) == .done)
        let (_, records) = try read("out.pdn", trusting: [key])
        #expect(Set(records.map(\.root)) == Set((0...Title.segmentCount).compactMap { rootOf(Title.video($0)) }))
    }

    @Test func `Passing failures are ridden out`() async throws {
        defer { clean() }
        let key = try makeKey("key")
        let server = try await TestServer(Title.files)
        server.change("/t/video-2.m4s") { $0.failures = 2 }
        server.change("/t/video-3.m4s") { $0.breaks = 1 }
        #expect(await sign(server, ["master.m3u8"]) == .done)
        #expect(try read("out.pdn", trusting: [key]).records.count == 12)
    }

    @Test func `A run that failed is taken up where it stopped`() async throws {
        defer { clean() }
        let key = try makeKey("key")
        let server = try await TestServer(Title.files)
        let lost = try #require(Title.files["/t/audio-4.m4s"])
        server.change("/t/audio-4.m4s") { $0.failures = .max }
        #expect(await sign(server, ["master.m3u8"], ["--jobs", "1"]) == .failed)
        #expect(!FileManager.default.fileExists(atPath: path("out.pdn")))
        let first = Set(server.requests.filter { $0.hasSuffix(".m4s") && $0 != "/t/audio-4.m4s" })
        #expect(!first.isEmpty)

        // A crash may cut the last line off.
        let journal = path("out.pdn.journal")
        let handle = try #require(FileHandle(forWritingAtPath: journal))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("12345 - ab".utf8))
        try handle.close()

        server.change("/t/audio-4.m4s") { $0 = lost }
        let before = server.requests.count
        #expect(await sign(server, ["master.m3u8"]) == .done)
        let second = server.requests[before...].filter { $0.hasSuffix(".m4s") }
        #expect(first.isDisjoint(with: second))
        #expect(first.count + second.count == 12)
        #expect(try read("out.pdn", trusting: [key]).records.count == 12)
    }

    @Test func `An old journal and one of something else are forgotten`() throws {
        defer { clean() }
        let journal = path("journal")
        let resource = SegmentResource(url: "https://a.example/x?token=1", byteRange: 5..<9)
        let tree = try #require(SegmentTree(byteCount: 4, stripeLayer: [.zero], suite: suite))
        do {
            let first = try SigningJournal(path: journal, startsOver: false, suite: suite)
            #expect(first.finished.isEmpty)
            first.note(resource, tree)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: journal)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        func finished(startsOver: Bool = false) throws -> [SegmentResource: SegmentTree] {
            try SigningJournal(path: journal, startsOver: startsOver, suite: suite).finished
        }
        #expect(try finished() == [resource: tree])
        let dayAgo = Date(timeIntervalSinceNow: -86500)
        try FileManager.default.setAttributes([.modificationDate: dayAgo], ofItemAtPath: journal)
        #expect(try finished().isEmpty)
        try SigningJournal(path: journal, startsOver: false, suite: suite).note(resource, tree)
        #expect(try finished(startsOver: true).isEmpty)
        try Data("something else\n4 - 00 x\n".utf8).write(to: URL(fileURLWithPath: journal))
        #expect(try finished().isEmpty)
    }

    @Test func `Several keys sign together`() async throws {
        defer { clean() }
        let keys = [try makeKey("key"), try makeKey("second")]
        let server = try await TestServer(Title.files)
        #expect(await sign(server, ["master.m3u8"], ["--key", path("second"), "--epoch", "7"]) == .done)
        let (reader, records) = try read("out.pdn", trusting: keys, threshold: 2)
        #expect(records.allSatisfy { $0.name.epoch == 7 && $0.signed.record.signatures.count == 2 })
        let policy = try #require(reader.policy)
        #expect(throws: Never.self) { try policy.verify(records[0].signed, now: WallClock.now, suite: suite) }
    }

    @Test func `Exit codes tell what went wrong`() async throws {
        defer { clean() }
        _ = try makeKey("key")
        _ = try makeKey("token", role: .token)
        var files = Title.files
        files["/t/text"] = TestServer.File(bytes: Array("hello".utf8))
        files["/t/live.m3u8"] = TestServer.File(
            bytes: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nvideo-1.m4s\n".utf8))
        files["/t/video-5.m4s"] = nil
        let server = try await TestServer(files)
        #expect(await sign(server, ["text"]) == .badInput)
        #expect(await sign(server, ["live.m3u8"]) == .badInput)
        #expect(await sign(server, ["nothing.mpd"]) == .unreachable)
        #expect(await sign(server, ["master.m3u8"]) == .failed)
        #expect(await sign(server, ["master.m3u8"], ["--key", path("token")]) == .badInput)
        #expect(await sign(server, ["master.m3u8"], ["--key", path("absent")]) == .badInput)
        #expect(await sign(server, ["master.m3u8"], ["--jobs", "0"]) == .usage)
        #expect(await sign(server, []) == .usage)
        #expect(
            await PDN.run([
                "sign", "--key", path("key"), "--stream", "s", "--out", path("o"), "http://127.0.0.1:1/m.mpd",
            ]) == .unreachable)
        #expect(!FileManager.default.fileExists(atPath: path("out.pdn")))
    }
}
