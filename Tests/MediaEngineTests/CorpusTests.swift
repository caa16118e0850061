import CoreModel
import Foundation
import MediaEngine
import Testing

extension EngineTests {
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

        private func read(_ path: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: Corpus.folder.appendingPathComponent("streams/\(path)")))
        }

        @Test func packedAudioIsPlacedBesideTheVideoOfItsSection() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.addTrack(id: 1, kind: .audio)
            for (track, prefix, suffix) in [(1, "audio", "aac"), (0, "video", "ts")] {
                for index in 1...5 {
                    let info = SegmentInfo(
                        start: MediaTime(seconds: Int64(index - 1) * 2), duration: MediaTime(seconds: 2))
                    probe.engine.append(track: track, .segmentBegan(info))
                    let bytes = try read("hls-audio-webvtt/\(prefix)_\(index).\(suffix)")
                    probe.engine.append(track: track, .bytes(bytes[...]))
                    probe.engine.append(track: track, .segmentEnded)
                }
                probe.engine.append(track: track, .endOfTrack)
            }
            #expect(try await probe.waitForEnd(seconds: 60) == .ended)
            #expect(probe.pictures.first?.time == .zero)
            // The tag says 0.0787 s, the video starts at 0.1 s.
            let first = try #require(probe.blocks.first)
            #expect(first > MediaTime(ticks: -23, timescale: 1000) && first < MediaTime(ticks: -20, timescale: 1000))
        }

        @Test func firstPeriodIsCutWhereTheSecondBegins() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            let file = try read("dash-multiperiod-segmentbase/sample.video.mp4")
            let border = MediaTime(ticks: 55, timescale: 100)
            probe.engine.append(track: 0, .initialization(Array(file[..<940])))
            for section in 0..<UInt64(2) {
                let start = section == 0 ? MediaTime.zero : border
                let window = ClipWindow(start: start, end: section == 0 ? border : nil)
                probe.engine.append(
                    track: 0,
                    .segmentBegan(SegmentInfo(start: start, mediaOffset: start, section: section, window: window)))
                probe.engine.append(track: 0, .bytes(file[984...]))
                probe.engine.append(track: 0, .segmentEnded)
            }
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd(seconds: 60) == .ended)
            #expect(probe.pictures.count == 11 + 73)
            #expect(probe.pictures.prefix(11).map(\.hash) == probe.pictures[11..<22].map(\.hash))
        }
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
