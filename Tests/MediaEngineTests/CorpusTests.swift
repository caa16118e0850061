import CoreModel
import Foundation
import MediaEngine
import Testing

/// Real streams of other packagers, where a corpus of them lies beside the checkout.
@Suite(.enabled(if: Corpus.isPresent, "no corpus beside the checkout"), .timeLimit(.minutes(3)))
struct CorpusTests {
    @Test(arguments: Corpus.tracks) func corpusTrackDecodesAsFFmpegDoes(track: Corpus.Track) async throws {
        let probe = EngineProbe()
        let kind: TrackKind = track.video == nil ? .audio : track.audio == nil ? .video : .muxed
        probe.engine.addTrack(id: 0, kind: kind)
        var files = try track.files.map { [UInt8](try Data(contentsOf: track.folder.appendingPathComponent($0))) }
        let joined = Array(files.joined())
        if files.count > 1, track.files[0].contains("init") {
            probe.engine.append(track: 0, .initialization(files.removeFirst()))
        }
        let info = SegmentInfo(start: .zero, mediaOffset: track.files[0].hasSuffix("mp4") ? .zero : nil)
        for file in files {
            probe.engine.append(track: 0, .segmentBegan(info))
            probe.engine.append(track: 0, .bytes(file[...]))
            probe.engine.append(track: 0, .segmentEnded)
        }
        probe.engine.append(track: 0, .endOfTrack)
        #expect(try await probe.waitForEnd(seconds: 60) == .ended)
        if let video = track.video {
            #expect(probe.pictures.count == video.frameCount)
            #expect(probe.pictures.prefix(video.first.count).map(\.hash) == video.first)
            #expect(probe.pictures.suffix(video.last.count).map(\.hash) == video.last)
            #expect(probe.pictures.map(\.hash) == (try await FFmpegTool.pictures(joined).pictures.map(\.hash)))
        }
        if let samples = track.audio { #expect(probe.engine.statistics.audioSamplesDecoded == samples) }
        #expect(probe.pictures.map(\.time) == probe.pictures.map(\.time).sorted())
    }
}

/// The streams of `shared/corpus` and what ffmpeg makes of them.
enum Corpus {
    struct Video: Sendable {
        let frameCount: Int
        let first: [String]
        let last: [String]
    }

    struct Track: Sendable, CustomTestStringConvertible {
        let stream: String
        let name: String
        let folder: URL
        let files: [String]
        let video: Video?
        let audio: Int?
        var testDescription: String { "\(stream)/\(name)" }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus")

    static var isPresent: Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("expected.json").path)
    }

    private struct Expected: Decodable {
        struct Stream: Decodable { let tracks: [Entry] }
        struct Entry: Decodable {
            let name: String
            let joinedFrom: [String]?
            let decryptedWith: String?
            let video: Picture?
            let audio: Sound?
        }
        struct Picture: Decodable {
            let frameCount: Int
            let firstFrames: [Frame]
            let lastFrames: [Frame]
        }
        struct Frame: Decodable { let md5: String }
        struct Sound: Decodable { let decodedSamples: Int }
        let streams: [String: Stream]
    }

    /// The tracks that play without decryption.
    static let tracks: [Track] = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("expected.json")),
            let expected = try? decoder.decode(Expected.self, from: data)
        else { return [] }
        return expected.streams.sorted { $0.key < $1.key }.flatMap { name, stream in
            stream.tracks.compactMap { entry in
                guard let files = entry.joinedFrom, entry.decryptedWith == nil,
                    entry.video != nil || entry.audio != nil
                else { return nil }
                return Track(
                    stream: name, name: entry.name, folder: folder.appendingPathComponent("streams/\(name)"),
                    files: files,
                    video: entry.video.map {
                        Video(
                            frameCount: $0.frameCount, first: $0.firstFrames.map(\.md5),
                            last: $0.lastFrames.map(\.md5))
                    }, audio: entry.audio?.decodedSamples)
            }
        }
    }()
}
