import Delivery
import Foundation
import TestSupport
import Testing

/// Every stream of the corpus beside the checkout plays to its end through the whole player, with the pictures and samples
/// that ffmpeg makes of the same bytes.
@Suite(
    .enabled(if: Corpus.isPresent, "no corpus beside the checkout"),
    .enabled(if: FolderServer.isAvailable, "needs nginx"), .timeLimit(.minutes(5)))
struct CorpusStreamTests {
    @Test(arguments: Corpus.streams)
    func aStreamPlaysToItsEndAsFFmpegDecodesIt(stream: Corpus.Stream) async throws {
        let server = try await FolderServer(root: Corpus.folder.path)
        let run = try await StreamRun.play(server.url(stream.main))
        #expect(run.failure == nil)
        #expect(run.pictures.count == stream.pictureCount)
        #expect(run.pictures.prefix(stream.first.count) == stream.first[...])
        #expect(run.pictures.suffix(stream.last.count) == stream.last[...])
        #expect(run.times == run.times.sorted())
        #expect(run.sampleCount == stream.sampleCount)
        #expect(run.figures.stalls == 0)
    }

    @Test func keysAreFetchedOnceAndNeverLogged() async throws {
        let server = try await FolderServer(root: Corpus.folder.path)
        let run = try await StreamRun.play(server.url("streams/hls-aes128-rotation/media.m3u8"))
        #expect(run.failure == nil)
        let keys = server.requests.filter { $0.hasSuffix(".bin") }
        #expect(keys.sorted() == ["key1", "key2"].map { "/streams/hls-aes128-rotation/\($0).bin" })
        for name in ["key1", "key2"] {
            let key = try Data(
                contentsOf: Corpus.folder.appending(path: "streams/hls-aes128-rotation/\(name).bin"))
            let digits = key.map { String(format: "%02x", $0) }.joined()
            let list = key.map(String.init).joined(separator: ",")
            #expect(!run.log.contains { $0.lowercased().contains(digits) || $0.contains(list) })
        }
    }
}

/// The streams of `shared/corpus`, and what ffmpeg makes of them.
enum Corpus {
    struct Stream: Sendable, CustomTestStringConvertible {
        var name: String
        var main: String
        var pictureCount = 0
        var first: [String] = []
        var last: [String] = []
        var sampleCount = 0
        var testDescription: String { name }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/corpus")

    static var isPresent: Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("expected.json").path)
    }

    private struct Expected: Decodable {
        struct Stream: Decodable {
            let main: String
            let tracks: [Track]
        }
        struct Track: Decodable {
            let name: String
            let video: Video?
            let audio: Audio?
            let framesInFirstPeriod: Int?
        }
        struct Video: Decodable {
            let frameCount: Int
            let firstFrames: [Frame]
            let lastFrames: [Frame]
        }
        struct Frame: Decodable { let md5: String }
        struct Audio: Decodable { let decodedSamples: Int }
        let streams: [String: Stream]
    }

    static let streams: [Stream] = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("expected.json")),
            let expected = try? decoder.decode(Expected.self, from: data)
        else { return [] }
        return expected.streams.sorted { $0.key < $1.key }.map { name, stream in
            var wanted = Stream(name: name, main: stream.main)
            // The last state of a live stream lists its end alone; a second file is another manifest's.
            let tracks = stream.tracks.filter { $0.name != "all seven segments" && !$0.name.contains("_with_") }
            for track in tracks {
                if let video = track.video {
                    // A period in front may show the beginning of the same file.
                    wanted.pictureCount += video.frameCount + (track.framesInFirstPeriod ?? 0)
                    wanted.first = video.firstFrames.map(\.md5)
                    wanted.last = video.lastFrames.map(\.md5)
                }
                wanted.sampleCount += track.audio?.decodedSamples ?? 0
            }
            return wanted
        }
    }()
}
