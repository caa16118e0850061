import CoreModel
import Testing

@testable import MediaEngine

extension EngineTests {
    /// Discontinuities, periods, other renditions: each part decodes as if it were alone.
    @Suite(.timeLimit(.minutes(5))) struct SectionTests {
        let media: TestMedia

        init() async throws {
            media = try await TestMedia.shared.value
        }

        private func append(
            _ bytes: [UInt8], _ probe: EngineProbe, start: Int64, section: UInt64, mediaOffset: MediaTime? = nil,
            window: ClipWindow? = nil
        ) {
            let info = SegmentInfo(
                start: MediaTime(seconds: start), duration: MediaTime(seconds: 2), mediaOffset: mediaOffset,
                section: section, window: window)
            probe.engine.append(track: 0, .segmentBegan(info))
            probe.engine.append(track: 0, .bytes(bytes[...]))
            probe.engine.append(track: 0, .segmentEnded)
        }

        @Test func repeatedTimestampsInANewSectionArePlacedByThePlaylist() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            let segment = media.transportStream.segments[0]
            for index in 0..<3 { append(segment, probe, start: Int64(index) * 2, section: UInt64(index)) }
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            let once = try await FFmpegTool.pictures(segment).pictures.map(\.hash)
            #expect(probe.pictures.map(\.hash) == once + once + once)
            #expect(probe.pictures.map(\.time) == probe.pictures.map(\.time).sorted())
            #expect(probe.pictures[once.count].time == MediaTime(seconds: 2))
            #expect(probe.engine.statistics.audioSamplesDecoded == 3 * (try await FFmpegTool.sampleCount(segment)))
        }

        @Test func unmarkedJumpOfTimestampsIsPlacedByThePlaylist() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            append(media.transportStream.segments[0], probe, start: 0, section: 0)
            append(media.transportStream.segments[1], probe, start: 100, section: 0)
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            #expect(probe.pictures.count == 100)
            let late = probe.pictures.filter { $0.time >= MediaTime(seconds: 99) }
            #expect(late.count >= 49 && late.last.map { $0.time < MediaTime(seconds: 103) } == true)
        }

        @Test func changedInitialisationOpensAnotherDecoder() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            for rendition in [media.video, media.muxedMP4, media.video] {
                probe.append(rendition, track: 0, mediaOffset: .zero, ends: false)
            }
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            let once = try await FFmpegTool.pictures(media.video.joined).pictures.map(\.hash)
            #expect(probe.pictures.map(\.hash) == once + once + once)
        }

        @Test func repeatedInitialisationChangesNothing() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            for (index, segment) in media.video.segments.enumerated() {
                probe.engine.append(track: 0, .initialization(try #require(media.video.initialization)))
                append(segment, probe, start: Int64(index) * 2, section: 0, mediaOffset: .zero)
            }
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            let expected = try await FFmpegTool.pictures(media.video.joined).pictures
            #expect(probe.pictures.map(\.hash) == expected.map(\.hash))
        }

        @Test func framesOutsideTheWindowAreNotPresented() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .video)
            probe.engine.append(track: 0, .initialization(try #require(media.video.initialization)))
            let window = ClipWindow(start: MediaTime(ticks: 1, timescale: 2), end: MediaTime(ticks: 3, timescale: 2))
            append(media.video.segments[0], probe, start: 0, section: 0, mediaOffset: .zero, window: window)
            // The next period shows the second half of the same media, moved on by ten seconds.
            let second = ClipWindow(start: MediaTime(seconds: 11))
            append(
                media.video.segments[0], probe, start: 10, section: 1, mediaOffset: MediaTime(seconds: 10),
                window: second)
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            let once = try await FFmpegTool.pictures(
                media.video.segments[0...0].reduce(media.video.initialization ?? []) { $0 + $1 }
            )
            .pictures.map(\.hash)
            #expect(probe.pictures.map(\.hash) == Array(once[13..<38]) + Array(once[25...]))
        }

        @Test func separateAudioIsAnchoredByTheVideoOfItsSection() async throws {
            // The audio's first timestamp lies before the video's: anchored by itself it would come late.
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .audio)
            probe.engine.addTrack(id: 1, kind: .muxed)
            probe.append(media.transportStream, track: 0)
            try await Task.sleep(for: .milliseconds(50))
            #expect(probe.engine.statistics.audioSamplesDecoded == 0, "audio waits for the video to anchor the section")
            probe.append(media.transportStream, track: 1)
            #expect(try await probe.waitForEnd() == .ended)
            #expect(
                probe.engine.statistics.audioSamplesDecoded == 2
                    * (try await FFmpegTool.sampleCount(media.transportStream.joined)))
        }

        @Test func wrappedTimestampsGoOn() {
            var unfolder = TimestampUnfolder(expecting: nil)
            let period = Int64(1) << 33
            let times = [period - 7200, period - 3600, 0, 3600, period - 1800, 7200]
            #expect(
                times.map { $0 + unfolder.turns(for: $0) } == [
                    period - 7200, period - 3600, period, period + 3600, period - 1800, period + 7200,
                ])
        }

        @Test func transportStreamAcrossTheWrapPlaysThrough() async throws {
            let probe = EngineProbe()
            probe.engine.addTrack(id: 0, kind: .muxed)
            // ffmpeg writes the timestamps 26.5 hours on, so that they wrap after a second.
            let shifted = try await TestMedia.transportStream(startingAt: "95442.7")
            append(shifted, probe, start: 0, section: 0)
            probe.engine.append(track: 0, .endOfTrack)
            #expect(try await probe.waitForEnd() == .ended)
            #expect(probe.pictures.map(\.time) == (0..<100).map { MediaTime(ticks: $0, timescale: 25) })
            #expect(probe.pictures.map(\.hash) == (try await FFmpegTool.pictures(shifted).pictures.map(\.hash)))
        }
    }
}
