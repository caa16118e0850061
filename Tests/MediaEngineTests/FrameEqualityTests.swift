import CoreModel
import MediaEngine
import Testing

extension EngineTests {
    /// What the engine decodes from segments equals what ffmpeg decodes from the same segments joined.
    @Suite(.timeLimit(.minutes(5))) struct FrameEqualityTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        private func expectEqual(_ probe: EngineProbe, _ joined: [UInt8]) async throws {
            let expected = try await FFmpegTool.pictures(joined).pictures
            #expect(expected.count == TestMedia.seconds * TestMedia.frameRate)
            #expect(probe.pictures.map(\.hash) == expected.map(\.hash))
            #expect(probe.pictures.map(\.size) == expected.map(\.size))
            #expect(probe.engine.statistics.decodeErrors == 0)
        }

        @Test func muxedFragmentsDecodeAsTheirJoin() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(media.muxedMP4, track: 0)
            #expect(try await probe.waitForEnd() == .ended)
            try await expectEqual(probe, media.muxedMP4.joined)
            #expect(
                probe.engine.statistics.audioSamplesDecoded == (try await FFmpegTool.sampleCount(media.muxedMP4.joined))
            )
            #expect(probe.pictures.first?.time == .zero)
        }

        @Test func transportStreamSegmentsDecodeAsTheirJoin() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            probe.append(media.transportStream, track: 0)
            #expect(try await probe.waitForEnd() == .ended)
            try await expectEqual(probe, media.transportStream.joined)
            let samples = try await FFmpegTool.sampleCount(media.transportStream.joined)
            #expect(probe.engine.statistics.audioSamplesDecoded == samples)
            #expect(probe.pictures.first?.time == .zero)
        }

        @Test func separateTracksDecodeAsTheirJoins() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.addTrack(id: 1, kind: .audio)
            probe.append(media.video, track: 0, mediaOffset: .zero)
            probe.append(media.audio, track: 1, mediaOffset: .zero)
            #expect(try await probe.waitForEnd() == .ended)
            try await expectEqual(probe, media.video.joined)
            #expect(
                probe.engine.statistics.audioSamplesDecoded == (try await FFmpegTool.sampleCount(media.audio.joined)))
        }

        @Test func packedAudioDecodesAsItsJoin() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .audio)
            probe.append(media.packedAudio, track: 0)
            #expect(try await probe.waitForEnd() == .ended)
            let samples = try await FFmpegTool.sampleCount(media.packedAudio.joined)
            #expect(probe.engine.statistics.audioSamplesDecoded == samples)
        }

        @Test func timesAndDurationsAreThoseOfFFmpeg() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.append(media.video, track: 0, mediaOffset: .zero)
            #expect(try await probe.waitForEnd() == .ended)
            let (expected, timescale) = try await FFmpegTool.pictures(media.video.joined)
            #expect(probe.pictures.map(\.time) == expected.map { MediaTime(ticks: $0.time, timescale: timescale) })
            #expect(
                probe.pictures.map(\.duration) == expected.map { MediaTime(ticks: $0.duration, timescale: timescale) })
        }

        @Test(arguments: [UInt64(1), 2, 3]) func anySplitOfTheBytesGivesTheSameFrames(seed: UInt64) async throws {
            let generator = RandomSplitter(seed: seed)
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            let rendition = seed == 2 ? media.transportStream : media.muxedMP4
            probe.append(rendition, track: 0, split: generator.split)
            #expect(try await probe.waitForEnd() == .ended)
            try await expectEqual(probe, rendition.joined)
        }

        @Test func severalDecoderThreadsGiveTheSameFrames() async throws {
            var configuration = EngineConfiguration.unpaced
            configuration.decoderThreadCount = 4
            let probe = EngineProbe(configuration)
            probe.engine.addTrack(id: 0, kind: .video)
            probe.append(media.video, track: 0, mediaOffset: .zero)
            #expect(try await probe.waitForEnd() == .ended)
            try await expectEqual(probe, media.video.joined)
        }

        @Test func pictureComesBeforeItsSegmentIsComplete() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.append(track: 0, .initialization(try #require(media.video.initialization)))
            probe.engine.append(track: 0, .segmentBegan(SegmentInfo(start: .zero, mediaOffset: .zero)))
            let segment = media.video.segments[0]
            probe.engine.append(track: 0, .bytes(segment[..<(segment.count / 2)]))
            #expect(try await probe.wait { $0.isFirstFrame } == .firstFrame(time: .zero))
            probe.engine.shutdown()
        }
    }
}

/// Cuts bytes at random places, also into single ones.
final class RandomSplitter {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let longest = [1, 16, 1500, 40_000].randomElement(using: &generator) ?? 1
            let count = min(rest.count, Int.random(in: 1...longest, using: &generator))
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
